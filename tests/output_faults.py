"""One wrong token each in what comes out: traces, files, data sets, pictures, quantities; who sees them.

Not here: how faults are tried (mutate.py), all others (mutations.py).
"""

from __future__ import annotations

OUTPUT_SEEN_BY = {
    "python/unda/io/trace_plots.py": "test_trace_plots",
    "python/unda/io/plotting.py": "test_slices",
    "python/unda/io/seismic.py": "test_seismic",
    "python/unda/io/labelled.py": "test_labelled",
    "python/unda/io/volume.py": "test_volume",
    "python/unda/io/html.py": "test_html",
    "python/unda/io/_dlpack.py": "test_device_array",
    "python/unda/io/device_array.py": "test_device_array",
    "python/unda/problem/_gridded.py": "test_gridded_media",
    "python/unda/_units.py": "test_quantities",
    "python/unda/_check.py": "test_quantities",
}

OUTPUT_FAULTS = [
    ("python/unda/io/trace_plots.py", "order = np.argsort(place", "order = np.argsort(-place"),
    ("python/unda/io/trace_plots.py", "x + unit * trace, t, **options", "x - unit * trace, t, **options"),
    ("python/unda/io/trace_plots.py", "where=trace > 0", "where=trace < 0"),
    ("python/unda/io/trace_plots.py", "ylim=(t[-1], t[0])", "ylim=(t[0], t[-1])"),
    ("python/unda/io/trace_plots.py", "colour_top([traces]) / factor", "colour_top([traces])"),
    ("python/unda/io/trace_plots.py", "t - 0.5 * dt, density", "t, density"),
    ("python/unda/io/trace_plots.py", "t[0] + middle", "middle"),
    ("python/unda/io/plotting.py", "_PART * part[-1]", "part[-1]"),
    ("python/unda/io/plotting.py", "colour_top(values[i])", "colour_top(values[0])"),
    ("python/unda/io/seismic.py", "return 1 if n == 1 else -n", "return n"),
    ("python/unda/io/seismic.py", '_whole("start", float(t[0]) / 1e-3)', "0"),
    ("python/unda/io/seismic.py", "start + float(first[0] if len(first) else 0.0)", "start"),
    ("python/unda/io/seismic.py", "_SPLINE = 5", "_SPLINE = 3"),
    ("python/unda/io/seismic.py", "if dt <= 2 * _MICRO:", "if False:"),
    ("python/unda/io/seismic.py", "_scaled(points[:, 2], heights)", "_scaled(points[:, 2], scale)"),
    ("python/unda/io/labelled.py", "rec.points[:, i], _PLACES", "rec.points[:, 0], _PLACES"),
    ("python/unda/io/labelled.py", "sim._scheme.lag(name) * sim.dt", "sim._scheme.lag(name)"),
    ("python/unda/io/labelled.py", "shift[i] = half", "shift[i] = 0.0"),
    ("python/unda/io/labelled.py", "np.full(len(points), np.nan", "np.full(len(points), 0.0"),
    ("python/unda/io/labelled.py", "if key in taken else key", "if False else key"),
    ("python/unda/io/volume.py", "ravel(order=\"F\")", "ravel()"),
    ("python/unda/io/volume.py", "for sign in (-1, 1) for level", "for sign in (1,) for level"),
    ("python/unda/io/volume.py", "data = data.clean(tolerance=1e-9 * data.length)", "pass"),
    ("python/unda/io/html.py", "escape(str(value))", "str(value)"),
    ("python/unda/io/html.py", "except Error:", "except ValueError:"),
    ("python/unda/io/html.py", "count <= _MOST_NODES", "True"),
    ("python/unda/io/_dlpack.py", "8 * dtype.itemsize", "dtype.itemsize"),
    ("python/unda/io/_dlpack.py", "kept.pop(address, None)", "pass"),
    ("python/unda/io/_dlpack.py", "if valid(capsule, name):", "if False:"),
    ("python/unda/io/device_array.py", "OutOfMemoryError if result == _OUT_OF_MEMORY", "DeviceError if True"),
    ("python/unda/io/device_array.py", "or DeviceArray.of(sim.get(field), index)", "or DeviceArray.of(0 * sim.get(field), index)"),
    ("python/unda/io/device_array.py", "return array if done[0] else None", "return array"),
    ("python/unda/method/sem.py", 'or ("chi" in self.fields and', 'or (False and'),
    ("python/unda/problem/_gridded.py", "axis[::-1].copy(), np.flip(values, i)", "axis[::-1].copy(), values"),
    ("python/unda/problem/_gridded.py", "beyond = (at < low) | (at > high)", "beyond = at < low"),
    ("python/unda/problem/_gridded.py", "return plain(name, quantity, unit)", "return values"),
    ("python/unda/_units.py", "return value.m_as(in_pint(unit))", "return value.magnitude"),
    ("python/unda/_units.py", "    if unit is None:", "    if False:"),
    ("python/unda/_units.py", "parts = [plain(name, part, unit) for part in value]", "parts = value"),
    ("python/unda/_check.py", "    value = plain(name, value, unit)\n    kind", "    kind"),
]  # fmt: skip
