functions {
  #include "wrong_function.inc"
}
