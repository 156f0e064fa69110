// TRAMMEL_SANITIZED is 1 in programs built with the address sanitizer, by gcc or clang.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define TRAMMEL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRAMMEL_SANITIZED 1
#endif
#endif
#ifndef TRAMMEL_SANITIZED
#define TRAMMEL_SANITIZED 0
#endif
