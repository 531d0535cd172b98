#include "math/gemm_library.h"

#include <dnnl.h>
#include <stddef.h>

static const struct {
    dnnl_cpu_isa_t isa;
    const char *name;
} known[] = {
    {dnnl_cpu_isa_sse41, "sse41"},
    {dnnl_cpu_isa_avx, "avx"},
    {dnnl_cpu_isa_avx2, "avx2"},
    {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
    {dnnl_cpu_isa_avx512_core, "avx512_core"},
    {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
    {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
    {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
};

gemm_library gemm_library_describe(void) {
    const dnnl_version_t *version = dnnl_version();
    gemm_library out = {version->major, version->minor, version->patch, "baseline"};
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].isa == isa)
            out.isa = known[i].name;
    return out;
}
