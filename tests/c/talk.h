/* talk.h: a scenario of gpu_host.c. Next: talk.c. */
#ifndef TALK_H
#define TALK_H
#include "unda.h"

/* Arguments: the device of the last launch, which waits until the first party has talked; then parties in a chain,
 * at most four, as DEVICE or DEVICE/SPLIT: one launch does the rounds before SPLIT and another the rest; -1: none is
 * launched. Prints wrong=0 for each party whose numbers are right. */
unda_status talk_scenario(char **argument);

#endif
