/* undefine.h: removes what the header of another physics defined; included at the head of each. */
#undef GRAD_DIV
#undef NUM_FIELD
#undef NUM_MATERIAL
#undef NUM_WAVE
#undef NUM_COEF
#undef NUM_LOCAL
#undef NUM_FACE_COEF
#undef COEF_POWERS
#undef FACE_COEF_POWERS
#undef NUM_REF
#undef NUM_ACC
#undef NUM_FRAME
#undef NUM_TRACE
#undef NUM_MIRROR
#undef NUM_JUMP
#undef NUM_LIFT_COEF
