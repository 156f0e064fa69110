#include "trammel/integrate/method_report.h"

namespace trammel {

void add_work(const Counts& of_method, Counts& sum) {
  sum.factorisations += of_method.factorisations;
  sum.refactorisations += of_method.refactorisations;
  sum.solves += of_method.solves;
}

void add_work_of_dropped(const Counts& of_method, Counts& sum) {
  add_work(of_method, sum);
  sum.newton_iterations += of_method.newton_iterations;
}

void append_remark(const OdeMethod& method, std::string& text) {
  if (method.stiff_steps() > 0)
    text += (text.empty() ? "" : "; ") + std::to_string(method.stiff_steps()) +
            " steps limited by stability: the model is stiff, an implicit method would be faster";
  const std::span<const long> by_order = method.steps_by_order();
  if (by_order.empty()) return;
  text += text.empty() ? "" : "; ";
  for (std::size_t k = 1; k < by_order.size(); ++k) text += (k == 1 ? "" : "/") + std::to_string(by_order[k]);
  text += " steps of order 1/2/..." + method.remark_on_orders();
}

}  // namespace trammel
