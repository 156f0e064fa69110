// The page of the viewer, as viewer/build.mjs made it: script and style inside, with a content security policy that
// names them by their SHA-256 and allows nothing else.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trammel {

inline constexpr std::string_view page_magic = "<!doctype html><!-- trammel-view -->";  // how every page begins

// The gzipped page inside the program; empty if it was built without one. Made by cmake/EmbedFile.cmake.
std::string_view embedded_page();

// The page with its data, packed as view_data makes them: of the run, and of those that are its ghosts. Throws Failure
// where the program has no viewer.
std::string page_with_data(const std::string& title, const std::vector<std::string>& packed);
// A page replaces an earlier page, nothing else, and never what it is made from. Both throw Failure; the first one
// finds out before a page is made, and also whether the program has a viewer.
void check_page_path(const std::string& path);
void write_page(const std::string& path, const std::string& page);
// The page that gets its data from the server it comes from, "127.0.0.1:4711", and may talk to no other.
std::string live_page(const std::string& host);

}  // namespace trammel
