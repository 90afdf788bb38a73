"""Time functions have the values, derivatives, integrals, spans and frequencies they claim.

Not here: what they drive (test_exact_point_source.py).
Next: python/unda/problem/_pulses.py.
"""

import json
import math
import pickle

import numpy as np
import pytest
from exact_helpers import derivative
from unda.errors import ArgumentError
from unda.problem.timefunction import (
    chirp,
    from_config,
    gaussian,
    ricker,
    sampled,
    smooth_bump,
    step,
    tone_burst,
    wrap,
)

F0 = 10.0
TIMES = np.linspace(0.0, 0.4, 401)
SAMPLES = sampled(TIMES, np.sin(np.pi * TIMES / 0.4) ** 4)
PULSES = {
    "ricker": ricker(F0),
    "late ricker": ricker(F0, 0.2),
    "gaussian": gaussian(F0),
    "bump": smooth_bump(0.3, 0.05),
    "tone burst": tone_burst(20.0, 6, 0.05),
    "sweep": chirp(8.0, 30.0, 0.3, taper=0.15, t0=0.05),
    "sum": 2.0 * ricker(F0) - gaussian(1.5 * F0, 0.1),
}
EVERY = pytest.mark.parametrize("name", PULSES)


@EVERY
@pytest.mark.parametrize("order", range(-3, 4))
def test_derivative_is_the_slope_and_integral_its_inverse(name, order):
    f = PULSES[name]
    for _ in range(abs(order)):
        f = f.derivative if order > 0 else f.integral
    assert f.derivative.integral == f == f.integral.derivative
    # times off the ends of the bump, where its seventh and higher derivatives jump
    t = np.linspace(0.055, 0.345, 60)
    h = 5e-4  # (2 pi 37 Hz h)^8/630 = 5e-11, 37 Hz being twice fmax of the Gaussian; 20 times that
    slope = derivative(lambda offset: f(t + offset), h)
    scale = np.abs(f.derivative(t)).max() + np.abs(f(t)).max()
    assert np.abs(slope - f.derivative(t)).max() < 1e-9 * scale
    assert np.abs(slope - 1.01 * f.derivative(t)).max() > 1e-4 * np.abs(f.derivative(t)).max()


@EVERY
def test_integral_starts_from_nothing(name):
    integral = PULSES[name].integral
    assert abs(integral(-1.0)) <= 1e-15
    nodes, weights = np.polynomial.legendre.leggauss(200)
    begin, end = PULSES[name].span
    t = begin + (end - begin) * (nodes + 1.0) / 2.0
    # a Ricker integrates to nothing, so the measure is the integral of its modulus
    moduli = weights @ np.abs(PULSES[name](t)) * (end - begin) / 2.0
    quadrature = weights @ PULSES[name](t) * (end - begin) / 2.0
    assert integral(end) == pytest.approx(quadrature, abs=1e-12 * moduli)
    assert integral((begin + end) / 2.0 - 0.01) != pytest.approx(quadrature, abs=1e-3 * moduli)


@EVERY
@pytest.mark.parametrize("order", [-2, -1, 0, 1])
def test_a_time_has_the_same_bits_alone_and_among_others(name, order):
    """So do runs of many steps, of single ones, and those that a checkpoint has interrupted."""
    f = PULSES[name]
    for _ in range(abs(order)):
        f = f.derivative if order > 0 else f.integral
    t = np.linspace(-0.01, 0.41, 157)
    among, alone = f(t), np.array([f(one) for one in t.tolist()])
    assert (among == alone).all() and (among != f(t * (1 + 1e-14))).any()


def test_values_are_those_of_the_formulas():
    x = np.pi * F0 * (TIMES - 0.15)
    assert np.allclose(ricker(F0)(TIMES), (1 - 2 * x**2) * np.exp(-(x**2)), rtol=0, atol=1e-15)
    assert np.allclose(gaussian(F0)(TIMES), np.exp(-(x**2)), rtol=0, atol=1e-15)
    s = TIMES / 0.4
    bump = 51480 * s**7 * (1 - s) ** 7
    assert np.allclose(smooth_bump(0.4)(TIMES), bump, rtol=1e-13, atol=0)
    assert not np.allclose(ricker(1.01 * F0, 0.15)(TIMES), ricker(F0)(TIMES), rtol=0, atol=1e-3)


def test_bump_is_strictly_causal_with_unit_mean():
    f = smooth_bump(2.0, 1.0)
    assert f(1.0) == f(0.5) == f(3.0) == f(9.0) == 0.0 < f(1.01)
    assert f.integral(3.0) == pytest.approx(2.0, rel=1e-14)
    assert f.integral(99.0) == f.integral(3.0)
    assert f.integral.integral(3.0) == pytest.approx(2.0, rel=1e-14)  # symmetric: mean time 1 s
    assert f.integral.integral(5.0) == pytest.approx(6.0, rel=1e-14)


@EVERY
@pytest.mark.parametrize("order", [0, 1, 2])
def test_function_is_negligible_outside_its_span_and_not_inside(name, order):
    f = PULSES[name]
    for _ in range(order):
        f = f.derivative
    begin, end = f.span
    peak = np.abs(f(np.linspace(begin, end, 1001))).max()
    outside = np.concatenate([begin - np.linspace(0, 1, 50), end + np.linspace(0, 1, 50)])
    assert np.abs(f(outside)).max() <= 2e-16 * peak
    width = end - begin
    inside = f(np.array([begin + 0.1 * width, end - 0.1 * width]))
    assert np.abs(inside).max() > 1e-12 * peak


def test_integrals_that_do_not_return_to_zero_span_for_ever():
    assert gaussian(F0).integral.span[1] == math.inf
    assert ricker(F0).integral.span[1] < 1.0
    assert smooth_bump(1.0).integral.span == (0.0, math.inf)


@EVERY
def test_spectrum_has_fallen_to_three_per_cent_at_fmax(name):
    f = PULSES[name]
    t = np.linspace(-1.0, 3.0, 2**16, endpoint=False)
    spectrum, frequency = np.abs(np.fft.rfft(f(t))), np.fft.rfftfreq(t.size, t[1] - t[0])
    peak, floor = spectrum.max(), 6.25 * np.exp(-5.25)
    if name != "sum":  # the sum takes the larger of two
        at_fmax = np.interp(f.fmax, frequency, spectrum)
        assert at_fmax == pytest.approx(floor * peak, rel=0.3)
    assert spectrum[frequency > 1.1 * f.fmax].max() < floor * peak
    if name != "sum":
        assert spectrum[frequency > 0.8 * f.fmax].max() > floor * peak


def test_fmax_of_a_ricker_is_two_and_a_half_f0():
    assert ricker(F0).fmax == 2.5 * F0
    assert gaussian(F0).derivative.derivative.fmax == 2.5 * F0
    assert gaussian(F0).fmax == pytest.approx(1.8486 * F0, rel=1e-4)
    assert sampled(TIMES, ricker(F0, 0.2)(TIMES)).fmax == pytest.approx(2.5 * F0, rel=0.02)


def test_sampled_is_the_spline_inside_and_zero_outside():
    # the error of a cubic spline is 5/384 h^4 f'''' (Hall & Meyer 1976), more at not-a-knot ends
    bound = (np.pi / 0.4 * 1e-3) ** 4 * 4**4 / 2
    t = np.linspace(0.0, 0.4, 997)
    error = np.abs(SAMPLES(t) - np.sin(np.pi * t / 0.4) ** 4).max()
    assert 1e-3 * bound < error < bound
    assert np.all(SAMPLES([-1e-9, 0.4 + 1e-9, 7.0]) == 0.0)
    assert SAMPLES.span == (0.0, 0.4)


def test_integrals_of_samples_go_on_after_the_end():
    total = SAMPLES.integral(0.4)
    assert total == pytest.approx(0.4 * 3 / 8, rel=1e-8)
    assert SAMPLES.integral(5.0) == total and SAMPLES.integral(-1.0) == 0.0
    twice = SAMPLES.integral.integral
    assert twice(1.4) == pytest.approx(twice(0.4) + total, rel=1e-14)
    assert derivative(lambda h: twice(3.0 + h), 0.1) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("t, s, found", [
    ([0, 1, 2], [0, 1, 0], "4 or more"),
    ([0, 1, 2, 3], [0, 1, 0], "3 samples"),
    ([0, 1, 1, 3], [0, 1, 1, 0], r"t\[2\] = 1.0 does not exceed"),
    ([0, 1, 2, 3], [0, np.nan, np.inf, 0], r"2 values.*s\[1\] = nan"),
    (np.zeros((2, 2)), np.zeros(4), r"shape \(2, 2\)"),
])  # fmt: skip
def test_bad_samples_are_named(t, s, found):
    with pytest.raises(ArgumentError, match=found):
        sampled(t, s)


@pytest.mark.parametrize("make, argument", [(ricker, "f0"), (gaussian, "f0"), (smooth_bump, "dura")])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "10", None, True, 1j])
def test_parameters_must_be_positive_numbers(make, argument, value):
    with pytest.raises(ArgumentError, match=f"{argument}.* is .*positive"):
        make(value)
    with pytest.raises(ArgumentError, match="t0 is nan"):
        make(1.0, math.nan)


def test_scalars_and_arrays_of_any_shape_come_back_as_float64():
    for f in (*PULSES.values(), SAMPLES, wrap(np.sin, 0.1)):
        assert type(f(0)) is float and type(f(np.float32(0.25))) is float
        values = f(np.full((2, 3, 1), 0.25, dtype=np.float32))
        assert values.shape == (2, 3, 1) and values.dtype == np.float64
        assert values[0, 0, 0] == f(0.25)
        assert f(np.zeros((0, 2))).shape == (0, 2)


def test_configuration_pickle_and_equality_agree():
    every = [*PULSES.values(), SAMPLES, SAMPLES.derivative, ricker(F0).integral.integral]
    for one in every:
        restored = from_config(json.loads(json.dumps(one.to_config())))
        for other in (restored, pickle.loads(pickle.dumps(one))):
            assert other == one and hash(other) == hash(one) and repr(other) == repr(one)
            assert np.array_equal(other(TIMES), one(TIMES))
    assert sum(a == b for a in every for b in every) == len(every)
    assert ricker(F0) != "ricker" and ricker(F0) == ricker(F0, 1.5 / F0)
    with pytest.raises(ArgumentError, match=r"'square'; expected one of .*ricker"):
        from_config({"type": "square"})


def test_sums_and_multiples_are_linear_in_everything():
    f, g = ricker(F0), smooth_bump(0.3)
    h = 2.0 * f - g * 0.5
    assert np.allclose(h(TIMES), 2.0 * f(TIMES) - 0.5 * g(TIMES), rtol=0, atol=1e-15)
    slope = 2.0 * f.derivative(TIMES) - 0.5 * g.derivative(TIMES)
    assert np.allclose(h.derivative(TIMES), slope, rtol=1e-14, atol=1e-12)
    assert h.span == (min(f.span[0], g.span[0]), max(f.span[1], g.span[1]))
    assert h.fmax == max(f.fmax, g.fmax)
    assert (-f)(0.15) == -1.0 and (f + wrap(np.sin, 0.1)).span is None
    with pytest.raises(ArgumentError, match="factor"):
        math.nan * f
    with pytest.raises(TypeError):
        f * g
    with pytest.raises(TypeError):
        f + 1.0


def test_wrapped_callable_has_derivatives_of_order_eight():
    errors = []
    for dt in (0.4, 0.2):  # spacing dt/4; sin(20 t): (20 dt/4)^8/630 of 20
        f = wrap(lambda t: np.sin(20.0 * t), dt / 4)
        errors.append(np.abs(f.derivative(TIMES) - 20.0 * np.cos(20.0 * TIMES)).max())
        assert errors[-1] == pytest.approx(20.0 * (20.0 * dt / 16) ** 8 / 630, rel=0.2)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(8.0, abs=0.2)
    assert f.derivative.integral == f
    second = wrap(lambda t: t**3, 0.1).derivative.derivative(2.0)
    assert second == pytest.approx(12.0, rel=1e-11)  # 8 eps/(h h') = 8 * 2e-16 * 8/(0.025)^2


def test_wrapped_callable_may_take_numbers_only_or_be_constant():
    assert np.array_equal(wrap(math.cos, 0.1)(TIMES), [math.cos(t) for t in TIMES])
    assert np.array_equal(wrap(lambda t: 3, 0.1)(TIMES), np.full(TIMES.shape, 3.0))
    assert wrap(ricker(F0), 0.1) == ricker(F0)


def test_wrapped_callable_has_no_span_integral_or_configuration():
    f = wrap(np.sin, 0.1)
    assert f.span is None and f.fmax is None
    with pytest.raises(ArgumentError, match=r"unda\.sampled"):
        _ = f.integral
    with pytest.raises(ArgumentError, match=r"unda\.sampled"):
        f.to_config()
    assert pickle.loads(pickle.dumps(f)) == f != wrap(np.sin, 0.2)
    assert f != wrap(np.cos, 0.1) and f != ricker(F0)


def test_callables_that_misbehave_are_named():
    for function, found in [
        (lambda t: t[:2], r"shape \(2,\) for times of shape \(401,\)"),
        (lambda t: np.full_like(t, np.nan), "nan at t = 0.0 s"),
    ]:
        with pytest.raises(ArgumentError, match=found):
            wrap(function, 0.1)(TIMES)
    with pytest.raises(ArgumentError, match="expected a time function or a callable"):
        wrap(3.0, 0.1)
    with pytest.raises(ArgumentError, match=r"dt is 0\.0"):
        wrap(np.sin, 0.0)


def test_bursts_are_sines_under_hann_windows():
    s = TIMES - 0.05
    hann = np.where((s > 0) & (s < 0.3), np.sin(np.pi * s / 0.3) ** 2, 0.0)
    assert np.allclose(tone_burst(20.0, 6, 0.05)(TIMES), hann * np.sin(40 * np.pi * s), rtol=0, atol=1e-13)
    phase = 2 * np.pi * (8.0 * s + 22.0 * s**2 / 0.6)
    w = np.clip(np.minimum(s, 0.3 - s) / 0.04, 0.0, 1.0)
    wave = np.sin(0.5 * np.pi * w) ** 2 * np.sin(phase)
    assert np.allclose(chirp(8.0, 30.0, 0.3, taper=0.04, t0=0.05)(TIMES), wave, rtol=0, atol=1e-13)
    assert not np.allclose(chirp(30.0, 8.0, 0.3, taper=0.04, t0=0.05)(TIMES), wave, rtol=0, atol=0.1)


@pytest.mark.parametrize("taper", [0.0, 0.04])
def test_integrals_of_a_sweep_pass_the_ends_of_its_tapers(taper):
    f = chirp(8.0, 30.0, 0.3, taper=taper, t0=0.05)
    t = np.array([0.0, 0.05, 0.07, 0.09, 0.2, 0.31, 0.349, 0.35, 0.5])
    nodes, weights = np.polynomial.legendre.leggauss(100)

    def quadrature(power):  # Cauchy's formula, piece by piece
        total = np.zeros(len(t))
        for low, high in ((0.05, 0.09), (0.09, 0.31), (0.31, 0.35)):
            end = np.clip(t, low, high)
            u = low + (end - low)[:, None] * (nodes + 1) / 2
            total += (end - low) / 2 * (((t[:, None] - u) ** power * f(u)) @ weights)
        return total

    assert np.allclose(f.integral(t), quadrature(0), rtol=0, atol=1e-15)  # of values of 1 over 0.3 s
    assert np.allclose(f.integral.integral(t), quadrature(1), rtol=0, atol=1e-15)
    assert f.integral(0.5) == f.integral(0.35) != 0.0 and f.integral.span[1] == math.inf


def test_a_burst_of_whole_cycles_has_no_mean():
    assert tone_burst(1e6, 5).integral.span == tone_burst(1e6, 5).span
    assert tone_burst(1e6, 4.75).integral.span[1] == math.inf


def test_fmax_of_a_burst_is_above_its_frequency_by_its_bandwidth():
    # the spectrum of a Hann window of length T is zero at 2/T, its first side lobe 2.7 % there beyond
    f = tone_burst(1e6, 10)
    assert 1e6 + 1.5 / 10e-6 < f.fmax < 1e6 + 2.0 / 10e-6
    assert tone_burst(1e6, 2000).fmax == pytest.approx(1e6, rel=1e-3)  # more cycles than samples by default
    assert chirp(8.0, 80.0, 10.0).fmax == pytest.approx(80.0, rel=0.01)


def test_a_step_is_the_integral_of_a_bump_over_its_rise():
    f = step(0.2, 0.1)
    assert f(0.1) == f(-1.0) == 0.0 and f(0.2) == pytest.approx(0.5, rel=1e-14)
    assert f(0.3) == pytest.approx(1.0, rel=1e-15) and f(9.0) == f(0.3)
    assert f.derivative(0.2) == pytest.approx(smooth_bump(0.2)(0.1) / 0.2, rel=1e-15)
    assert f.fmax == pytest.approx(smooth_bump(0.2).fmax, rel=1e-12) and f.derivative.span == (
        0.1,
        pytest.approx(0.3),
    )
    assert from_config(json.loads(json.dumps(f.to_config()))) == f


@pytest.mark.parametrize("make, found", [
    (lambda: tone_burst(0.0, 5), "f0 is 0.0"),
    (lambda: tone_burst(1.0, -5), "cycles is -5.0"),
    (lambda: chirp(1.0, 2.0, 3.0, taper=1.6), r"taper is 1.6 s; expected 0 to 1.5 s"),
    (lambda: chirp(1.0, 2.0, 3.0, taper=-0.1), r"taper is -0.1 s; expected 0 to 1.5 s"),
    (lambda: chirp(1.0, 2.0, -3.0), "duration is -3.0"),
    (lambda: step(0.0), "rise is 0.0"),
])  # fmt: skip
def test_bad_bursts_are_named(make, found):
    with pytest.raises(ArgumentError, match=found):
        make()
