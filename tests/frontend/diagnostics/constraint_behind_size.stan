data {
  int N;
  vector[N]<lower=0> y;
}
