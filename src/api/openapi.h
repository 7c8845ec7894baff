/* The document of the API (src/api/openapi.json), as bytes inside the program. */
#ifndef VIV_API_OPENAPI_H
#define VIV_API_OPENAPI_H

extern const char openapi_json[], openapi_end[];

#endif
