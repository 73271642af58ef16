data {
  int N = 3;
}
