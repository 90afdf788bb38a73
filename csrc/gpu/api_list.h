/* api_list.h: every function of the CUDA driver, of NVRTC, cuBLAS and NCCL that the library calls, one per line.
 * Not here: how they are found (api.c). The stand-ins of the tests are checked against this list.
 * X(name, versioned symbol, argument types); all return int (CUresult, nvrtcResult, cublasStatus_t,
 * ncclResult_t). Next: api.h. */

#define CUDA_LIST(X)                                                                                         \
    X(cuInit, cuInit, (unsigned))                                                                            \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *))                                                       \
    X(cuGetErrorName, cuGetErrorName, (int, const char **))                                                  \
    X(cuGetErrorString, cuGetErrorString, (int, const char **))                                              \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *))                                                           \
    X(cuDeviceGet, cuDeviceGet, (int *, int))                                                                \
    X(cuDeviceGetName, cuDeviceGetName, (char *, int, int))                                                  \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *, int))                                                \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *, int, int))                                          \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *, int, int))                                         \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **, int))                                    \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (void *))                                                       \
    X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int *, int, int))                                       \
    X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (void *, unsigned))                                      \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (void **))                                                        \
    X(cuMemGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                                                   \
    X(cuMemAlloc, cuMemAlloc_v2, (uint64_t *, size_t))                                                       \
    X(cuMemFree, cuMemFree_v2, (uint64_t))                                                                   \
    X(cuPointerGetAttribute, cuPointerGetAttribute, (void *, int, uint64_t))                                 \
    X(cuMemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))                                           \
    X(cuMemFreeHost, cuMemFreeHost, (void *))                                                                \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))                     \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))                           \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *))                         \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const struct cuda_copy *, void *))                               \
    X(cuMemsetD8Async, cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))                           \
    X(cuStreamCreate, cuStreamCreate, (void **, unsigned))                                                   \
    X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, (void **, unsigned, int))                      \
    X(cuStreamDestroy, cuStreamDestroy_v2, (void *))                                                         \
    X(cuStreamSynchronize, cuStreamSynchronize, (void *))                                                    \
    X(cuStreamQuery, cuStreamQuery, (void *))                                                                \
    X(cuStreamWaitEvent, cuStreamWaitEvent, (void *, void *, unsigned))                                      \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (void *, int))                                          \
    X(cuStreamEndCapture, cuStreamEndCapture, (void *, void **))                                             \
    X(cuEventCreate, cuEventCreate, (void **, unsigned))                                                     \
    X(cuEventDestroy, cuEventDestroy_v2, (void *))                                                           \
    X(cuEventRecord, cuEventRecord, (void *, void *))                                                        \
    X(cuEventSynchronize, cuEventSynchronize, (void *))                                                      \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *, void *, void *))                                     \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                \
    X(cuGraphDestroy, cuGraphDestroy, (void *))                                                              \
    X(cuGraphLaunch, cuGraphLaunch, (void *, void *))                                                        \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (void *))                                                      \
    X(cuModuleLoadData, cuModuleLoadData, (void **, const void *))                                           \
    X(cuModuleUnload, cuModuleUnload, (void *))                                                              \
    X(cuModuleGetFunction, cuModuleGetFunction, (void **, void *, const char *))                             \
    X(cuFuncGetAttribute, cuFuncGetAttribute, (int *, int, void *))                                          \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (void *, int, int))                                            \
    X(cuFuncGetParamInfo, cuFuncGetParamInfo, (void *, size_t, size_t *, size_t *))                          \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,              \
      (int *, void *, int, size_t))                                                                          \
    X(cuLaunchKernel, cuLaunchKernel,                                                                        \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,        \
       void **))                                                                                             \
    X(cuLaunchKernelEx, cuLaunchKernelEx, (const struct cuda_launch *, void *, void **, void **))

#define NVRTC_LIST(X)                                                                                        \
    X(nvrtcVersion, nvrtcVersion, (int *, int *))                                                            \
    X(nvrtcGetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int *))                                         \
    X(nvrtcGetSupportedArchs, nvrtcGetSupportedArchs, (int *))                                               \
    X(nvrtcCreateProgram, nvrtcCreateProgram,                                                                \
      (void **, const char *, const char *, int, const char *const *, const char *const *))                  \
    X(nvrtcDestroyProgram, nvrtcDestroyProgram, (void **))                                                   \
    X(nvrtcCompileProgram, nvrtcCompileProgram, (void *, int, const char *const *))                          \
    X(nvrtcGetCUBINSize, nvrtcGetCUBINSize, (void *, size_t *))                                              \
    X(nvrtcGetCUBIN, nvrtcGetCUBIN, (void *, char *))                                                        \
    X(nvrtcGetProgramLogSize, nvrtcGetProgramLogSize, (void *, size_t *))                                    \
    X(nvrtcGetProgramLog, nvrtcGetProgramLog, (void *, char *))

#define CUBLAS_LIST(X)                                                                                       \
    X(cublasGetProperty, cublasGetProperty, (int, int *))                                                    \
    X(cublasCreate, cublasCreate_v2, (void **))                                                              \
    X(cublasDestroy, cublasDestroy_v2, (void *))                                                             \
    X(cublasSetStream, cublasSetStream_v2, (void *, void *))                                                 \
    X(cublasSetWorkspace, cublasSetWorkspace_v2, (void *, void *, size_t))                                   \
    X(cublasSetMathMode, cublasSetMathMode, (void *, int))                                                   \
    X(cublasGemmStridedBatchedEx, cublasGemmStridedBatchedEx,                                                \
      (void *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int,  \
       int, long long, const void *, void *, int, int, long long, int, int, int))

#define NCCL_LIST(X)                                                                                         \
    X(ncclGetVersion, ncclGetVersion, (int *))                                                               \
    X(ncclGetUniqueId, ncclGetUniqueId, (struct nccl_id *))                                                  \
    X(ncclCommInitRankConfig, ncclCommInitRankConfig,                                                        \
      (void **, int, struct nccl_id, int, const struct nccl_config *))                                       \
    X(ncclCommDestroy, ncclCommDestroy, (void *))                                                            \
    X(ncclCommAbort, ncclCommAbort, (void *))                                                                \
    X(ncclCommGetAsyncError, ncclCommGetAsyncError, (void *, int *))                                         \
    X(ncclGroupStart, ncclGroupStart, (void))                                                                \
    X(ncclGroupEnd, ncclGroupEnd, (void))                                                                    \
    X(ncclSend, ncclSend, (const void *, size_t, int, int, void *, void *))                                  \
    X(ncclRecv, ncclRecv, (void *, size_t, int, int, void *, void *))
