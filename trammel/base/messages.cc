#include "trammel/base/messages.h"

#include <algorithm>

namespace trammel {
namespace {

constexpr std::string_view in_file = "Reading a model file", in_expression = "Expressions", in_model = "The model",
                           in_method = "Methods and settings", at_start = "The start of a run", in_run = "A failed run",
                           a_cause = "Likely causes of a failed run", in_result = "Results and checkpoints",
                           in_command = "The command";

}  // namespace

const std::vector<MessageInfo>& message_registry() {
  static const std::vector<MessageInfo> table{
      // ---- Reading a model file
      {"bad-name", in_file,
       "A name that cannot be used: empty, or with characters that expressions or results cannot hold.",
       "use letters, digits, '_' and '-', beginning with a letter"},
      {"bad-setting", in_file, "A value given with --set is not NAME=VALUE.", "write --set L=0.5 or --set 'L=0.5 m'"},
      {"cannot-read", in_file, "A file is missing or may not be read.", "check the name and the permissions"},
      {"conflict", in_file, "Two settings exclude each other.", "keep one of them"},
      {"duplicate-key", in_file, "A key appears twice in the same mapping; YAML would keep one in silence.",
       "remove or rename one of them"},
      {"duplicate-name", in_file, "A name is used for two things.", "rename one of them"},
      {"empty-file", in_file, "The file holds no model.",
       "a model file begins with `trammel: 1`; see `trammel elements`"},
      {"merge-key", in_file, "YAML's '<<' is not supported.", "write the keys out, or use an anchor for a whole value"},
      {"missing-key", in_file, "A key that must be given is absent.", "add it; the message lists the keys"},
      {"no-value", in_file, "A key has no value.", "give one, or remove the key"},
      {"not-a-file", in_file, "A directory was named where a file is needed.", "name a file inside it"},
      {"not-text", in_file, "The file is not a text.", "check that it is the right file"},
      {"not-utf8", in_file, "The file is not valid UTF-8.", "save it as UTF-8"},
      {"not-yaml", in_file, "The file breaks the rules of YAML, often by indentation or a missing blank after ':'.",
       "look at the line that is named and at the one before it"},
      {"out-of-memory", in_file, "There is not enough memory to read the file.",
       "close other programs, or split the model"},
      {"parallel-axes", in_file, "Two directions that span a frame are parallel.", "give two different directions"},
      {"reserved-name", in_file, "The name has a meaning of its own.", "choose another name"},
      {"second-document", in_file, "A second YAML document starts in the file; it would be ignored.",
       "remove the line '---'"},
      {"tag", in_file, "YAML tags are not supported.", "remove the '!...'"},
      {"too-deep", in_file, "The file nests deeper than any model.", "check the brackets"},
      {"too-large", in_file, "A file or result is larger than can be handled.",
       "split it, or ask for a part of it; large models can be built in C++"},
      {"too-many-aliases", in_file, "Aliases unfold to an absurd number of values.", "write some of them out"},
      {"too-many-problems", in_file, "More problems were found than are shown.",
       "mend the first ones, they often cause the rest"},
      {"unit-needed", in_file, "The unit of a value is not clear.", "write it: '3 N/mm'"},
      {"unknown-alias", in_file, "A '*name' has no '&name' before it.", "define the anchor first"},
      {"unknown-body", in_file, "No body has this name.", "check the spelling; the nearest name is given"},
      {"unknown-frame", in_file, "No frame or body has this name.", "check the spelling; the nearest name is given"},
      {"unknown-joint", in_file, "No joint has this name.", "check the spelling; the nearest name is given"},
      {"unknown-key", in_file, "The key is not known at this place. Nothing is ignored in silence.",
       "check the spelling; the message lists the keys"},
      {"unknown-kind", in_file, "Bodies are spatial, planar or point.", "choose one of these kinds"},
      {"unknown-parameter", in_file, "--set names a parameter that the model does not have.",
       "`trammel info MODEL` lists the parameters"},
      {"unknown-type", in_file, "There is no element of this type.", "`trammel elements` lists all types"},
      {"unknown-unit", in_file, "The text is not a unit.", "units are products of symbols: 'N s/m', 'kg*mm^2'"},
      {"wrong-length", in_file, "A list has too many or too few entries.", "the message says how many are needed"},
      {"wrong-orientation", in_file, "An orientation is given in no way or in several, or is no rotation.",
       "give one of: quaternion, axes, matrix, sequence of angles"},
      {"wrong-type", in_file,
       "A value is of another kind than is needed there: a text for a number, a list for a mapping.",
       "the message says what is needed"},
      {"wrong-unit", in_file, "The unit does not fit the quantity.", "the message names the units that fit"},
      {"wrong-version", in_file, "The file's format is not one that this program reads.", "write `trammel: 1`"},
      // ---- Expressions
      {"bad-expression", in_expression, "An expression breaks the rules of its language.",
       "the message points at the character; see `trammel elements expressions`"},
      {"bad-measure", in_expression, "A measure is used with arguments it cannot have.",
       "see `trammel elements measures`"},
      {"bad-number", in_expression, "A number is malformed or beyond the range of floating point.",
       "write it as 1.5e-3"},
      {"empty-expression", in_expression, "The expression is empty.", "write 0 for nothing"},
      {"expression-too-deep", in_expression, "The expression nests too deeply.", "split it with parameters"},
      {"expression-too-long", in_expression, "The expression is too long.", "split it with parameters"},
      {"measures-not-wired", in_expression, "A program made elements before it called wire_measures.",
       "build Equations from the model; they call it"},
      {"no-time-here", in_expression, "Time has no meaning in this place.", "use numbers and parameters only"},
      {"too-many-frames", in_expression, "An expression looks at more frames than one element may have.",
       "split it over several elements or outputs"},
      {"unknown-name", in_expression, "A name in an expression is no parameter, function, measure or place.",
       "check the spelling; the nearest name is given"},
      {"wrong-arguments", in_expression, "A function has too many or too few arguments.", "the message shows its form"},
      // ---- The model
      {"ambiguous-name", in_model, "Measures would find two things of this name.", "rename one of them"},
      {"bad-mass", in_model, "A mass is not a finite number.", "give the mass in kg"},
      {"bad-orientation", in_model, "A position or orientation is not usable.", "check the numbers"},
      {"disc-lies-flat", in_model, "A rolling disc lies in the plane it should roll on.", "let it stand at an angle"},
      {"empty-condition", in_model, "A condition on velocities has no coefficient that is not zero.",
       "give at least one coefficient"},
      {"empty-name", in_model, "Something has no name; results are named after it.", "give it a name"},
      {"impossible-inertia", in_model,
       "No body can have this inertia: it is negative, not symmetric, or breaks the triangle rule.",
       "check units and the point it is taken about"},
      {"massless-body", in_model,
       "A body has no mass or no inertia; a direction that nothing holds has no acceleration.",
       "give it mass and inertia, or hold it by joints or forces"},
      {"missing-body", in_model, "Something sits on a body that does not exist.", "add the body first"},
      {"missing-field", in_model, "An element lacks a field that must be given.",
       "`trammel elements TYPE` lists its fields"},
      {"missing-frame", in_model, "An element does not have the frames it acts between.", "add the frames first"},
      {"missing-joint", in_model, "A value is given for a joint that does not exist.", "add the joint first"},
      {"negative-length", in_model, "A length is negative.", "give 0 or more"},
      {"negative-mass", in_model, "A mass is negative.", "give 0 or more"},
      {"not-finite", in_model, "A number of the model is infinite or not a number.",
       "check the expression it comes from"},
      {"not-perpendicular", in_model, "Two axes must be perpendicular and are not.", "give perpendicular axes"},
      {"not-planar", in_model, "A planar body or its joint does not lie in its plane.",
       "move it into the plane, axis along world z, or make the body spatial"},
      {"not-positive", in_model, "A number must be positive.", "give a positive number"},
      {"not-symmetric", in_model, "A matrix must be symmetric and is not.", "check its entries"},
      {"out-of-range", in_model, "A number is outside its valid range.", "the message gives the range"},
      {"quaternion-norm", in_model, "A quaternion does not have length 1.", "give four numbers with more digits"},
      {"same-body", in_model, "An element connects a body with itself.", "name two different bodies"},
      {"unknown-value", in_model, "A field takes one of a few words, and this is none of them.",
       "the message lists them"},
      {"unused-frame", in_model, "Nothing refers to a frame.", "remove it, or use it"},
      {"unused-parameter", in_model, "Nothing refers to a parameter.",
       "check for a misspelled name where it should act"},
      {"zero-axis", in_model, "A direction is the zero vector.", "give a direction"},
      {"zero-length", in_model, "A rod of length zero has no direction.", "use a spherical joint instead"},
      // ---- Methods and settings
      {"bad-option", in_method, "An option is not NAME=VALUE with a number, true or false.",
       "for example --option alpha=-0.1"},
      {"method-refuses", in_method, "The method cannot honour these settings, for the reason given.",
       "change the setting, or choose another method with `trammel methods`"},
      {"options-of-another-method", in_method,
       "Options that the file gives for its own method do not apply to the one chosen.", "give options with --option"},
      {"unknown-method", in_method, "There is no method of this name.", "`trammel methods` lists them"},
      {"unknown-option", in_method, "The method has no option of this name.", "`trammel methods KEY` lists them"},
      // ---- The start of a run
      {"loop-does-not-close", at_start, "The joints cannot all be closed, whatever the positions of the bodies.",
       "check joint points and lengths; a start nearer to an assembled position may help"},
      {"loop-misfit", at_start,
       "Redundant joints leave a small gap that no motion closes; right sides are projected meanwhile.",
       "give joint data with more digits"},
      {"no-accelerations", at_start, "Accelerations and reactions cannot be solved for at the start.",
       "look for bodies without mass that nothing holds, and for forces that give no value at the start"},
      {"out-of-plane", at_start,
       "A joint of planar or point bodies is violated in a direction in which they cannot move.",
       "place it in their plane, or make the bodies spatial"},
      {"velocities-conflict", at_start, "The start velocities cannot be made consistent with joints and motions.",
       "release kept velocities, or check motions that prescribe different speeds for the same joint"},
      // ---- A failed run
      {"newton-diverges", in_run, "Newton's corrections did not converge with the fixed step.",
       "take a smaller step, or let the step be controlled"},
      {"matrix-singular", in_run, "The matrix of the equations of motion is singular.",
       "give every body mass and inertia, or hold its free directions"},
      {"error-test-fails", in_run, "The estimated error stays above the tolerance at every step size.",
       "smooth what jumps, or loosen the tolerance"},
      {"step-at-round-off", in_run,
       "The step size has become so small that adding it to the time changes nothing any more: no step of any size "
       "succeeds from here.",
       "look at the likely causes of the report"},
      {"step-below-least", in_run, "The step size has fallen below `least_step` of the model.",
       "look at the likely causes of the report; lower `least_step` only if the small step is wanted"},
      {"time-stalled", in_run,
       "The time does not move, or so little in tens of thousands of steps that the run would never end.",
       "look at the likely causes of the report; take a larger fixed step"},
      // ---- Causes
      {"angle-too-fast", a_cause,
       "A multi-turn angle moves more than a quarter turn in one step: its turns could be miscounted.",
       "take a smaller step, or bound it with `greatest_step`"},
      {"cannot-evaluate", a_cause,
       "An element cannot be evaluated where it stands: a spring or rod whose ends coincide, a bushing turned by half "
       "a "
       "turn.",
       "check the distance of its ends near this time; give it a length it can keep"},
      {"event-storm", a_cause, "Something switches on and off again and again, and the steps shrink to follow it.",
       "add damping to the contact or stop, or make its transition wider"},
      {"fixed-step-too-large", a_cause, "The fixed step is too large for what happens here.",
       "take a smaller step, or drop `step` to let it be controlled"},
      {"force-jumps", a_cause,
       "A force jumps in time or in space; accelerations jump with it, and the error test sees that.",
       "smooth the jump with step(), or give it a width"},
      {"force-too-stiff", a_cause, "A force changes faster than Newton's corrections can follow.",
       "check stiffness and damping against the masses; raise `most_iterations`"},
      {"massless-direction", a_cause, "A direction has no mass or inertia, and nothing holds it.",
       "give every body mass and inertia, or hold its free directions"},
      {"mechanism-locked", a_cause, "Joints and motions contradict one another.",
       "check motions against the reach of the mechanism, and loops for joints that fight"},
      {"motion-jumps", a_cause, "A prescribed motion, or its speed, jumps: no finite force can follow.",
       "prescribe a smooth motion, with step() for transitions"},
      {"motion-out-of-reach", a_cause, "A prescribed motion asks for a position that the joints do not allow.",
       "check the motion's range against the lengths of the mechanism"},
      {"singular-position", a_cause,
       "The constraints lose rank: the mechanism stretches or folds into a position in which it may go on in several "
       "ways.",
       "keep the mechanism away from the dead point, or drive it by a force instead of a motion there"},
      {"solution-runs-away", a_cause,
       "Speeds or accelerations have grown beyond all measure: something feeds energy in.",
       "look for a force with the wrong sign, or one that grows with speed; check units"},
      {"tolerance-below-round-off", a_cause, "The error no longer falls with the step size: it is round-off.",
       "loosen the tolerance, or move the mechanism nearer to the origin"},
      {"value-not-finite", a_cause, "An element gives infinity or not-a-number.",
       "look at its expressions: divisions, roots, logarithms, powers, and parameters with extreme values"},
      // ---- Results and checkpoints
      {"bad-checkpoint", in_result, "A checkpoint is damaged, or not a checkpoint at all.",
       "take an earlier one, or run the model again"},
      {"bad-result-table", in_result, "A program made a table that no reader could use.", "report it"},
      {"cannot-continue-result", in_result,
       "The result file does not hold what it held when the checkpoint was written.",
       "put it back in its place, or run the model again"},
      {"cannot-plot", in_result, "gnuplot is missing or stopped with an error.", "install gnuplot"},
      {"cannot-write", in_result, "A file cannot be written.",
       "choose a file in a folder that exists and may be written to"},
      {"checkpoint-of-another-model", in_result, "The model has changed since the checkpoint was written.",
       "undo the change, or run the model again"},
      {"checkpoint-of-another-version", in_result,
       "The checkpoint was written by another version of the program, whose results may differ in their last bits.",
       "use that version, or run the model again"},
      {"damaged-result", in_result, "A result file is damaged.", "copy it again, or run the model again"},
      {"different-times", in_result, "Signals of tables with different times cannot share an axis.", "draw them apart"},
      {"incomplete-result", in_result, "A result ends before its last row: the run was killed or the file cut off.",
       "use what there is, or run the model again"},
      {"newer-result", in_result, "A result was written by a newer version of the program.",
       "use that version to read it"},
      {"not-a-result", in_result, "A file exists and is not a result: it is neither read nor overwritten.",
       "choose another name"},
      {"nothing-to-draw", in_result, "No values are left to draw.", "check signals and times"},
      {"state-of-another-model", in_result, "A saved state belongs to another model, method or settings.",
       "restore it with those it was saved with"},
      {"too-many-signals", in_result, "A pattern fits more signals than a picture can show.", "name fewer"},
      {"truncated-state", in_result, "A saved state ends too early.", "it is cut off, or belongs to another model"},
      {"unknown-format", in_result, "Pictures are .png, .svg or .txt.", "choose one of these endings"},
      {"unknown-signal", in_result, "The result has no signal of this name.",
       "the nearest name is given; '*' stands for any text"},
      {"write-failed", in_result,
       "Writing stopped during the run: the disk is full, or the file or its folder is gone.",
       "what was written before is kept; make room, or choose another place"},
      // ---- The command
      {"bad-reference", in_command, "Reference data of a study cannot be used.", "restore the files under studies/"},
      {"bad-usage", in_command, "The command was not understood.", "see `trammel --help`"},
      {"cannot-draw", in_command, "The graph cannot be drawn in this format.",
       "choose DOT, or install what the message names"},
      {"internal", in_command, "An error inside the program.", "report it, with the model file if you can"},
      {"no-output-there", in_command, "A study asks for an output time that the run does not have.", "report it"},
      {"run-failed", in_command, "A run inside a study failed.", "the message carries its reason"},
      {"unknown-column", in_command, "Reference data have no column of this name.", "the nearest name is given"},
      {"unknown-element", in_command, "There is no element, measure or function of this name.",
       "`trammel elements` lists them"},
      {"unknown-message", in_command, "There is no message of this name.", "`trammel help` lists them"},
      {"unknown-study", in_command, "There is no study of this name.", "`trammel study --list` lists them"},
  };
  return table;
}

const MessageInfo* find_message(std::string_view id) {
  const std::vector<MessageInfo>& table = message_registry();
  const auto found = std::find_if(table.begin(), table.end(), [&](const MessageInfo& m) { return m.id == id; });
  return found == table.end() ? nullptr : &*found;
}

std::string messages_as_markdown() {
  std::string out =
      "# Messages\n\n"
      "Every error, warning and note ends in its identifier, `[unknown-key]`; reports of failed runs carry one for the "
      "failure and\none for each likely cause, in text and in JSON (`id`). Identifiers are stable. `trammel help ID` "
      "explains one,\n`trammel help` lists them all.\n\n"
      "This page is made by `trammel help --markdown`; a test keeps it in step with the program.\n";
  std::string_view group;
  for (const MessageInfo& m : message_registry()) {
    if (m.group != group) {
      group = m.group;
      out += "\n## " + std::string(group) + "\n\n| identifier | means | what to do |\n|---|---|---|\n";
    }
    out += "| `" + std::string(m.id) + "` | " + std::string(m.text) + " | " + std::string(m.remedy) + " |\n";
  }
  return out;
}

}  // namespace trammel
