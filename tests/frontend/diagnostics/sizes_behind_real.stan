data {
  int N;
  real[N] y;
}
