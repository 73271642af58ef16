functions {
  #include "nowhere.stan"
}
