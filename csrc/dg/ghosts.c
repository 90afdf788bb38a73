/* ghosts.c: a team of DG whose parts wait for their ghosts before they begin, or not at all, or have longer messages: what
 * waiting costs is the difference. Not here: a stage (team.c), messages (exchange_cuda.c). */
#include "cuda.h"
#include "team.h"

/* Of all parts, or of none: a part sends into its neighbours' memory. */
static unda_status fill(const struct dg_team *team, double more)
{
    unda_status status = UNDA_OK;
    for (int32_t p = 0; status == UNDA_OK && p < team->num_part; p++)
        status = dg_cuda_exchange_fill(team->part[p], more);
    for (int32_t p = 0; status != UNDA_OK && p < team->num_part; p++)
        (void)dg_cuda_exchange_fill(team->part[p], 0);
    return status;
}

unda_status unda_solver_set_exchange(unda_solver *s, int32_t when, double weight)
{
    ENTER(s);
    if (s->method != &dg_team_method)
        FAIL(UNDA_ERR_ARG, "the solver is no team of DG: its parts send nothing");
    if (when < UNDA_EXCHANGE_BEHIND || when > UNDA_EXCHANGE_NEVER)
        FAIL(UNDA_ERR_ARG, "when is %d, expected 0..%d", when, UNDA_EXCHANGE_NEVER);
    if (!(weight >= 1 && weight <= 1e6))
        FAIL(UNDA_ERR_ARG, "weight is %g, expected 1..1e6", weight);
    struct dg_team *team = dg_team_of(s);
    bool on_cpu = dg_engine(team->part[0]) == &dg_cpu;
    if (on_cpu && weight > 1)
        FAIL(UNDA_ERR_ARG, "weight is %g, expected 1 on the CPU, where parts take turns", weight);
    if (!on_cpu)
        TRY(fill(team, weight - 1));
    team->exchange = when;
    return UNDA_OK;
}
