data {
  int N;
}
transformed data {
  real half = N / 2;
}
