/* In the place of the page, in a build without it. */
#include "serve/assets.h"

const serve_asset serve_page[] = {{0}};
