parameters {
  vector beta;
}
