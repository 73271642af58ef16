// Times gradients of a Stan model: compiled together with the C++ code that stanc writes for it.
//
// Arguments: JSON files with the data and with the parameters of two points, on the constrained scale. Prints
// how much larger the log density is at the second point; then for each number read from the input the seconds that so
// many gradients at the first point take, each at a point that depends on the gradient before.
#include MODEL_FILE
#include <stan/io/json/json_data.hpp>
#include <stan/math.hpp>
#include <stan/model/gradient.hpp>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

stan::io::var_context* read(const char* file) {
  std::ifstream in(file);
  return new stan::json::json_data(in);
}

Eigen::VectorXd unconstrained(const stan::model::model_base& model, const char* file) {
  Eigen::VectorXd x;
  model.transform_inits(*read(file), x, &std::cerr);
  return x;
}

int main(int, char* argv[]) {
  stan::model::model_base& model = new_model(*read(argv[1]), 1, &std::cerr);
  const Eigen::VectorXd start = unconstrained(model, argv[2]);
  Eigen::VectorXd x = start, other = unconstrained(model, argv[3]), g;
  std::cout << std::setprecision(17)
            << model.log_prob(other, &std::cerr) - model.log_prob(x, &std::cerr) << std::endl;
  long count;
  while (std::cin >> count) {
    double value = 0;
    x = start;
    const std::clock_t begin = std::clock();
    for (long i = 0; i < count; ++i) {
      stan::model::gradient(model, x, value, g, &std::cerr);
      x += 1e-14 * g;
    }
    std::cout << static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC << std::endl;
  }
}
