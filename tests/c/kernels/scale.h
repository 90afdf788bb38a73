/* scale.h: so that a header takes part. */
#define SCALE 2
