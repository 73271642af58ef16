data {
  int<upper=3000000000> n;
}
