// YAML and JSON texts become nodes with the right places; what is not one sound document is refused.
#include "trammel/base/document.h"

#include <gtest/gtest.h>

namespace trammel::document_test {
namespace {

Problem first_problem(const std::string& text) {
  ProblemList problems;
  try {
    const Document document(text, "file.yaml", problems);
    problems.fail_if_any();
  } catch (const Failure& failure) {
    return failure.problems().front();
  }
  return {};
}

void expect_problem(const std::string& text, const std::string& id, int line, int column,
                    const std::string& hint = "") {
  const Problem problem = first_problem(text);
  const std::string shown = text.substr(0, 60) + "\n" + to_text(problem);
  EXPECT_EQ(problem.id, id) << shown;
  ASSERT_NE(problem.where.file, nullptr) << shown;
  EXPECT_EQ(*problem.where.file, "file.yaml");
  EXPECT_EQ(problem.where.line, line) << shown;
  EXPECT_EQ(problem.where.column, column) << shown;
  EXPECT_NE(problem.hint.find(hint), std::string::npos) << shown;
}

TEST(Document, NodesKnowTheirPlaces) {
  ProblemList problems;
  const Document document("a: 1\nb:\n  - x\n  - {c: \"two words\", d: [1, 2]}\n", "file.yaml", problems);
  const Node& root = document.root();
  ASSERT_TRUE(root.is_mapping());
  ASSERT_EQ(root.count, 2u);
  EXPECT_EQ(root.key(0).text, "a");
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_EQ(root.find("missing"), nullptr);
  const Node& list = *root.find("b");
  ASSERT_TRUE(list.is_sequence());
  ASSERT_EQ(list.count, 2u);
  EXPECT_EQ(list.item(0).line, 3);
  EXPECT_EQ(list.item(0).column, 5);
  const Node& inner = list.item(1);
  EXPECT_EQ(inner.find("c")->text, "two words");
  EXPECT_TRUE(inner.find("c")->quoted);
  EXPECT_EQ(inner.find("c")->column, 9);
  EXPECT_EQ(inner.find("d")->item(1).text, "2");
  EXPECT_EQ(inner.find("d")->item(1).column, 29);
  EXPECT_EQ(document.where(inner).line, 4);
}

TEST(Document, ColumnsCountCharacters) {
  ProblemList problems;
  const Document document("\"größe\": [1, 2]\n", "file.yaml", problems);
  EXPECT_EQ(document.root().value(0).column, 10);
}

TEST(Document, JsonIsRead) {
  ProblemList problems;
  const Document document(
      "{\n\t\"a\":1,\n\t\"b\" : {\"c\":[1.5e3,-2,true,null]},\r\n\t\"t\": \"q\\\"\\\\\\/\\u00e9\\n\\t.\"\n}\n",
      "file.json", problems);
  const Node& root = document.root();
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_EQ(root.find("b")->find("c")->item(0).text, "1.5e3");
  EXPECT_TRUE(root.find("b")->find("c")->item(3).is_null());
  EXPECT_EQ(root.find("t")->text, "q\"\\/é\n\t.");
}

TEST(Document, WindowsLineEndsAndByteOrderMark) {
  ProblemList problems;
  const Document document("\xEF\xBB\xBFtrammel: 1\r\ntitle: x\r\n", "file.yaml", problems);
  EXPECT_EQ(document.root().find("trammel")->text, "1");
  EXPECT_EQ(document.root().find("title")->line, 2);
}

TEST(Document, NotYaml) {
  expect_problem("a: {b: 1\n", "not-yaml", 2, 1, "bracket");
  expect_problem("a: 1\n b: 2\n", "not-yaml", 2, 3, "indentation");
  expect_problem("a: b: c\n", "not-yaml", 1, 5, "quotes");
  expect_problem("a: [1, 2] mm\n", "not-yaml", 1, 11, "{value: [1, 2, 3], unit: mm}");
  expect_problem("a: \"open\nb: 2\n", "not-yaml", 3, 1);
  expect_problem("a: @b\n", "not-yaml", 1, 4);
  expect_problem("{\"a\": \"\\ud83d\\ude00\"}", "not-yaml", 1, 10, "character itself");
  expect_problem("]", "not-yaml", 1, 1);
}

TEST(Document, TabsNameThemselves) {
  expect_problem("a:\n\tb: 1\n", "not-yaml", 2, 1, "spaces");
  expect_problem("a:\n  b: 1\n\tc: 2\n", "not-yaml", 3, 1, "spaces");
}

TEST(Document, Empty) {
  expect_problem("", "empty-file", 1, 1, "trammel: 1");
  expect_problem("# only a comment\n", "empty-file", 1, 1);
  expect_problem("---\n", "empty-file", 1, 1);
  expect_problem("~\n", "empty-file", 1, 1);
}

TEST(Document, SecondDocument) { expect_problem("a: 1\n---\nb: 2\n", "second-document", 2, 1, "---"); }

TEST(Document, DuplicateKeys) {
  expect_problem("a: 1\nb: 2\na: 3\n", "duplicate-key", 3, 1, "rename");
  expect_problem("x: {a: 1, b: 2, \"a\": 3}\n", "duplicate-key", 1, 17);
  std::string many;
  for (int i = 0; i < 50; ++i) many += "key" + std::to_string(i) + ": 1\n";
  expect_problem(many + "key7: 2\n", "duplicate-key", 51, 1);
}

TEST(Document, OddKeysAndTags) {
  expect_problem("[1, 2]: 3\n", "wrong-type", 1, 1);
  expect_problem("? {a: 1}\n: 3\n", "wrong-type", 1, 3);
  expect_problem("a: &x {b: 1}\nc: {<<: *x, d: 2}\n", "merge-key", 2, 5);
  expect_problem("a: !!float 3\n", "tag", 1, 4);
  expect_problem("a: !thing {b: 1}\n", "tag", 1, 4);
}

TEST(Document, BadBytes) {
  expect_problem(std::string("a: 1\nb: \0\n", 10), "not-text", 2, 4);
  expect_problem("a: 1\nb: \xFF\n", "not-utf8", 2, 4, "UTF-8");
  expect_problem("é: \xC3\n", "not-utf8", 1, 4);
  expect_problem("a: \xED\xA0\x80\n", "not-utf8", 1, 4);  // a surrogate
  expect_problem("a: \xC0\x80\n", "not-utf8", 1, 4);      // an overlong zero
  expect_problem("a: \xF4\x90\x80\x80\n", "not-utf8", 1, 4);
  expect_problem("a: 1\nb: \x01\n", "not-text", 2, 4);
  expect_problem(std::string("\xFF\xFE"
                             "a\0",
                             4),
                 "not-utf8", 1, 1, "UTF-8");
}

TEST(Document, AliasesShareTheirNode) {
  ProblemList problems;
  const Document document("a: &x [1, 2, 3]\nb: *x\nc: &y 5\nd: [*y, *y]\n", "file.yaml", problems);
  const Node& root = document.root();
  EXPECT_EQ(root.find("b")->item(2).text, "3");
  EXPECT_EQ(root.find("b")->line, 1);  // where the value stands
  EXPECT_EQ(root.find("d")->item(1).text, "5");
}

TEST(Document, BadAliases) {
  expect_problem("a: *x\n", "unknown-alias", 1, 4, "define it first");
  expect_problem("a: &x [*x]\n", "unknown-alias", 1, 8);  // itself
}

TEST(Document, AliasBombIsRefused) {
  std::string bomb = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*l" + std::to_string(i - 1);
    bomb += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", " : "") + below;
    bomb += "]\n";
  }
  EXPECT_EQ(first_problem(bomb).id, "too-many-aliases");
}

TEST(Document, DeepNestingIsRefused) {
  expect_problem("a: " + std::string(100000, '['), "too-deep", 1, 67);
  std::string flow = "a: ", block;
  for (int i = 0; i < 500; ++i) {
    flow += "{a: ";
    block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  }
  EXPECT_EQ(first_problem(flow).id, "too-deep");
  EXPECT_EQ(first_problem(block).id, "too-deep");
}

TEST(Document, ProblemsAreCollectedUpToALimit) {
  std::string text = "a: 1\n";
  for (int i = 0; i < 5; ++i) text += "a: 1\n";
  ProblemList few;
  const Document document(text, "file.yaml", few);
  EXPECT_EQ(few.all().size(), 5u);
  for (int i = 0; i < 100; ++i) text += "a: 1\n";
  ProblemList many;
  try {
    const Document refused(text, "file.yaml", many);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().size(), ProblemList::limit + 1);
    EXPECT_EQ(failure.problems().back().id, "too-many-problems");
  }
}

}  // namespace
}  // namespace trammel::document_test
