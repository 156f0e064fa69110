// The table of all studies. A new one is a file of its own, its declaration and its line here.
#include "studies/study.h"

namespace trammel {

std::vector<Row> study_printed_data(const StudyContext& context);
std::vector<Row> study_cases(const StudyContext& context);
std::vector<Row> study_hht(const StudyContext& context);
std::vector<Row> study_rn(const StudyContext& context);
std::vector<Row> study_rn_large(const StudyContext& context);
std::vector<Row> study_redundancy(const StudyContext& context);
std::vector<Row> study_conditioning(const StudyContext& context);
std::vector<Row> study_constrained(const StudyContext& context);
std::vector<Row> study_work_precision(const StudyContext& context);
std::vector<Row> study_corpus(const StudyContext& context);
std::vector<Row> study_elements(const StudyContext& context);
std::vector<Row> study_events(const StudyContext& context);
std::vector<Row> study_split(const StudyContext& context);
std::vector<Row> study_text(const StudyContext& context);
std::vector<Row> study_glue(const StudyContext& context);

const std::vector<Study>& study_registry() {
  static const std::vector<Study> table{
      {"printed-data", "Coefficients, parameters and settings that the sources print, against those of the code",
       study_printed_data},
      {"cases", "Benchmark cases with known solutions, each at its file's own settings", study_cases},
      {"hht", "Orders, error estimate, step control and corrector of HHT at index 3", study_hht},
      {"rn", "Tables and figures of the Rosenbrock-Nystrom paper: stiff double pendulum, HMMWV over a bump", study_rn,
       3},
      {"rn-large", "Rosenbrock-Nystrom on a chain of 1000 links and 40 four-bars, beside HHT and IDA", study_rn_large,
       2},
      {"redundancy", "Redundant constraints and singular positions: motion against a twin, least-norm reactions, fill",
       study_redundancy},
      {"text", "Chapter 7 of the textbook: Table 7.4, Examples 7.1 and 7.2, problems 7/1 to 7/5, limits of stability",
       study_text, 2},
      {"split",
       "Splitting into explicit contacts and implicit joints: the examples, local error, stability by search, the ball "
       "bearing beside CVODE",
       study_split},
      {"glue", "Tables and figures of the paper on gluing: a double pendulum glued at its pin, and better couplings",
       study_glue},
      {"constrained",
       "Constrained systems by formulation: drift over many steps, condition over the step, spikes, orders of BDF",
       study_constrained, 1.5},
      {"work-precision",
       "Error against work of methods for constrained systems on five mechanisms, beside IDA; what runs must take",
       study_work_precision, 5},
      {"events", "Times of impacts, locking and slipping against closed solutions, located and not, by every family",
       study_events},
      {"conditioning", "Condition of HHT's Newton matrix as the step size goes to zero", study_conditioning},
      {"corpus", "Two thousand random mechanisms: derivatives, energy balance, two tolerances, no silent failure",
       study_corpus, 2},
      {"elements", "Every joint, motion and force against a closed form, with a picture for its page", study_elements},
  };
  return table;
}

}  // namespace trammel
