#include "golden.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "catch.hpp"

using Json = nlohmann::json;

namespace {

std::string golden_path(const std::string& file) {
  return std::string(SOFTLOOKUP_GOLDEN_DIR) + "/" + file;
}

Json read_json(const std::string& file) {
  std::ifstream stream(golden_path(file));
  if (!stream) {
    throw std::runtime_error("cannot read " + golden_path(file));
  }
  return Json::parse(stream);
}

double to_number(const Json& value) {
  if (!value.is_string()) {
    return value.get<double>();
  }
  const auto text = value.get<std::string>();
  if (text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "Infinity" || text == "-Infinity") {
    const double infinity = std::numeric_limits<double>::infinity();
    return text[0] == '-' ? -infinity : infinity;
  }
  throw std::runtime_error("not a number: " + text);
}

std::map<std::string, GoldenArray> to_arrays(const Json& entries) {
  std::map<std::string, GoldenArray> arrays;
  for (const auto& [name, entry] : entries.items()) {
    GoldenArray array{entry.at("dtype").get<std::string>(),
                      {entry.at("shape").get<std::vector<std::size_t>>(), {}}};
    std::size_t size = 1;
    for (const std::size_t n : array.values.shape) {
      size *= n;
    }
    for (const Json& value : entry.at("data")) {
      array.values.data.push_back(to_number(value));
    }
    if (array.values.data.size() != size) {
      throw std::runtime_error(name + ": data and shape differ");
    }
    arrays.emplace(name, std::move(array));
  }
  return arrays;
}

/// Numbers, flags and nested lists of them, flat; anything else has no numbers.
void append_numbers(const Json& value, std::vector<double>& flat) {
  if (value.is_number()) {
    flat.push_back(value.get<double>());
  } else if (value.is_boolean()) {
    flat.push_back(value.get<bool>() ? 1.0 : 0.0);
  } else if (value.is_array()) {
    for (const Json& element : value) {
      append_numbers(element, flat);
    }
  }
}

std::map<std::string, std::vector<double>> to_params(const Json& entries) {
  std::map<std::string, std::vector<double>> params;
  for (const auto& [name, value] : entries.items()) {
    if (value.is_object()) {  // "attributes.scale"
      for (auto& [inner, numbers] : to_params(value)) {
        params.emplace(name + "." + inner, std::move(numbers));
      }
      continue;
    }
    std::vector<double> flat;
    append_numbers(value, flat);
    if (!flat.empty()) {  // null means the default
      params.emplace(name, std::move(flat));
    }
  }
  return params;
}

}  // namespace

softlookup::Mask GoldenCase::mask(const std::string& input_name) const {
  const GoldenArray& array = inputs.at(input_name);
  if (array.dtype == "bool") {
    return keep(array.values.shape,
                std::vector<std::uint8_t>(array.values.data.begin(), array.values.data.end()));
  }
  if (array.dtype == "float32") {
    return bias(array.values.shape,
                std::vector<float>(array.values.data.begin(), array.values.data.end()));
  }
  throw std::runtime_error(name + ": " + input_name + " is no mask");
}

void GoldenCheck::operator()(const std::string& output, const Numbers& got) {
  INFO(golden_.family << " / " << golden_.name << " / " << output);
  compared_.insert(output);
  CHECK(mismatch(got, golden_.output(output), golden_.tolerance) == "");
}

void GoldenCheck::require_all_compared() const {
  for (const auto& [output, array] : golden_.outputs) {
    INFO(golden_.family << " / " << golden_.name << " / " << output << " was not compared");
    CHECK(compared_.count(output) == 1);
  }
}

const std::map<std::string, std::map<std::string, std::string>>& not_yet_covered() {
  static const auto listed = [] {
    std::map<std::string, std::map<std::string, std::string>> all;
    for (const Json& entry : read_json("not_yet_covered.json")) {
      for (const Json& name : entry.at("cases")) {
        const bool is_new =
            all[entry.at("family")].emplace(name, entry.at("reason").get<std::string>()).second;
        if (!is_new) {
          throw std::runtime_error(name.get<std::string>() + " is listed twice");
        }
      }
    }
    return all;
  }();
  return listed;
}

std::set<std::string> golden_families() {
  std::set<std::string> families;
  for (const auto& entry : std::filesystem::directory_iterator(SOFTLOOKUP_GOLDEN_DIR)) {
    const std::filesystem::path file = entry.path().filename();
    if (file.extension() == ".json" && file.stem() != "not_yet_covered") {
      families.insert(file.stem().string());
    }
  }
  return families;
}

std::vector<GoldenCase> read_golden(const std::string& family) {
  const Json file = read_json(family + ".json");
  if (file.at("format") != 1 || file.at("family") != family) {
    throw std::runtime_error(family + ".json: another format or family");
  }
  std::vector<GoldenCase> cases;
  for (const Json& entry : file.at("cases")) {
    cases.push_back({family,
                     entry.at("name").get<std::string>(),
                     {entry.at("tolerance").at("abs").get<double>(),
                      entry.at("tolerance").at("rel").get<double>()},
                     to_params(entry.at("params")),
                     to_arrays(entry.at("inputs")),
                     to_arrays(entry.at("outputs"))});
  }
  return cases;
}

void run_golden(const std::string& family, std::size_t expected_cases,
                const std::function<void(const GoldenCase&, GoldenCheck&)>& run) {
  CHECK(kGoldenTests.count(family) == 1);
  const std::vector<GoldenCase> cases = read_golden(family);
  CHECK(cases.size() == expected_cases);  // a shortened file must not pass
  const auto listed = not_yet_covered().find(family);
  std::size_t ran = 0;
  for (const GoldenCase& golden : cases) {
    if (listed != not_yet_covered().end() && listed->second.count(golden.name) != 0) {
      continue;
    }
    INFO(family << " / " << golden.name);
    GoldenCheck check(golden);
    try {
      run(golden, check);
    } catch (const std::exception& error) {
      FAIL_CHECK(error.what());
    }
    check.require_all_compared();
    ++ran;
  }
  const std::size_t not_covered = listed == not_yet_covered().end() ? 0 : listed->second.size();
  CHECK(ran + not_covered == cases.size());  // every listed name exists
  std::cout << "golden " << family << ": " << ran << " of " << cases.size() << " cases run\n";
}
