/* unda.h: the C interface of unda, a time-domain wave solver (acoustic, elastic, Maxwell).
 *
 * The manual of the library. Python reads this same file through CFFI; nothing is declared twice.
 * For a first program see examples/call_from_c/box_mode.c.
 *
 * Rules that hold everywhere
 *   status     Every call that can fail returns an unda_status; UNDA_OK is 0. On failure the outputs
 *              are untouched and unda_error() says, for the calling thread, what was found, what
 *              was expected and where. Nothing prints, exits or aborts.
 *   ownership  "copied": the library keeps its own copy. "borrowed": read only during the call.
 *              Objects made by *_new are freed by the matching *_free, which accepts NULL.
 *   shapes     Given beside each pointer in C order: [elem][node][field].
 *   units      SI, in brackets: [m], [s], [Pa], [kg/m3]. Consistent nondimensional units work too.
 *   options    Structs begin with size_bytes = sizeof(struct); members that are zero take their default.
 *   threads    Different objects may be used by different threads at the same time. One solver used
 *              by two threads at once is refused with UNDA_ERR_BUSY.
 *   fork       After any engine ran, a forked child gets UNDA_ERR_FORK from every call.
 *   numbering  Elements and vertices have the user's numbers. The internal order (a space-filling
 *              curve) is never visible.
 */
#ifndef UNDA_H
#define UNDA_H

#ifndef UNDA_CDEF
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define UNDA_API __attribute__((visibility("default")))
#else
#define UNDA_API
#endif

/* ------------------------------------------------------------------ status and library --------- */

/* X(name, value, text) */
#define UNDA_STATUS_LIST(X)                                                                                  \
    X(UNDA_OK, 0, "success")                                                                                 \
    X(UNDA_ERR_ARG, 1, "invalid argument")                                                                   \
    X(UNDA_ERR_MESH, 2, "invalid mesh")                                                                      \
    X(UNDA_ERR_MEMORY, 3, "out of host memory")                                                              \
    X(UNDA_ERR_DEVICE_MEMORY, 4, "out of device memory")                                                     \
    X(UNDA_ERR_UNSTABLE, 5, "the solution is no longer finite")                                              \
    X(UNDA_ERR_NO_DEVICE, 6, "no usable CUDA device")                                                        \
    X(UNDA_ERR_DEVICE, 7, "CUDA device error")                                                               \
    X(UNDA_ERR_DEVICE_LOST, 8, "CUDA device lost; restart the process")                                      \
    X(UNDA_ERR_COMPILE, 9, "kernel compilation failed")                                                      \
    X(UNDA_ERR_FORK, 10, "forked after an engine ran; use spawn or threads")                                 \
    X(UNDA_ERR_BUSY, 11, "the object is in use by another thread")                                           \
    X(UNDA_ERR_IO, 12, "file error")                                                                         \
    X(UNDA_ERR_INTERNAL, 13, "internal error")

typedef enum unda_status {
#define UNDA_X(name, value, text) name = value,
    UNDA_STATUS_LIST(UNDA_X)
#undef UNDA_X
} unda_status;

enum { UNDA_ABI = 32 };

/* Interface number compiled into the library; differs from UNDA_ABI if the library is stale. */
UNDA_API int32_t unda_abi(void);
/* sizeof the named public struct as the library sees it, -1 for an unknown name. */
UNDA_API int64_t unda_sizeof(const char *struct_name);
/* "0.1.0"; never freed. */
UNDA_API const char *unda_version(void);
/* Hash of csrc/ at build time (hexadecimal; "" when built without one); never freed. */
UNDA_API const char *unda_source_hash(void);
/* Message of the last failure in this thread ("" if none); valid until this thread's next call. */
UNDA_API const char *unda_error(void);
/* Full compiler log of the last UNDA_ERR_COMPILE in this thread ("" if none). */
UNDA_API const char *unda_error_log(void);
/* "invalid argument" for UNDA_ERR_ARG; never NULL. */
UNDA_API const char *unda_status_text(unda_status status);

typedef enum unda_log_level { UNDA_LOG_DEBUG = 10, UNDA_LOG_INFO = 20, UNDA_LOG_WARNING = 30 } unda_log_level;
/* The library never prints: it queues messages (the newest 256). Removes the oldest one and returns its
 * level and up to size_bytes - 1 characters. Returns 1, or 0 when the queue is empty. */
UNDA_API int32_t unda_log_pop(int32_t *level, char *text, int64_t size_bytes);

/* ------------------------------------------------------------------ mesh ------------------------ */

typedef struct unda_mesh unda_mesh;
typedef enum unda_shape { UNDA_TET = 0, UNDA_HEX = 1 } unda_shape;

/* A mesh as arrays. All arrays are copied. If there is one boundary and no list of boundary faces, all outer
 * faces belong to that boundary. Hexahedra: vertices in the order of Gmsh and VTK. */
typedef struct unda_mesh_input {
    int64_t size_bytes;
    int32_t shape;           /* unda_shape */
    int32_t fix_orientation; /* 1: renumber inverted elements instead of refusing them */
    int64_t num_vertex;
    int64_t num_elem;
    int64_t num_boundary_face;
    int32_t num_boundary;          /* named boundaries; ids 0 .. num_boundary - 1 */
    int32_t num_periodic;          /* periodic pairs of boundaries */
    const double *vertices;        /* [num_vertex][3] [m] */
    const int64_t *cells;          /* [num_elem][4 or 8] vertex ids */
    const int32_t *tags;           /* [num_elem] material tags; NULL: all 0 */
    const int64_t *boundary_faces; /* [num_boundary_face][3 or 4] vertex ids, any order */
    const int32_t *boundary_ids;   /* [num_boundary_face] */
    const int32_t *periodic;       /* [num_periodic][2] boundary ids that match by a translation */
    /* [num_elem][27][3] or NULL: hexahedra that are polynomials of degree 2 in each reference coordinate, by
     * their nodes at r = 0, 1/2, 1, the first axis (from vertex 0 to 1) fastest, the third (0 to 4) slowest.
     * Both sides of a face must agree. */
    const double *curved;
} unda_mesh_input;

/* Makes a mesh: matches faces in O(num_elem), pairs periodic sides, orders the elements along a
 * space-filling curve, checks the input. UNDA_ERR_MESH, with count and first ids, for: NaN, index out
 * of range, repeated vertex in a cell, zero volume, inverted element, a face shared by three elements,
 * unused vertex, an outer face without boundary, a named face that is not an outer face, periodic sides
 * that do not match, curved faces that differ from their neighbours', hanging nodes of hexahedra. */
UNDA_API unda_status unda_mesh_new(unda_mesh **mesh, const unda_mesh_input *input);
/* Ends the caller's use of a mesh. Its memory is freed once no solver uses it. */
UNDA_API void unda_mesh_free(unda_mesh *mesh);

/* A box of cells[0] x cells[1] x cells[2] bricks; "tet" splits each brick into six (Kuhn 1960). The
 * boundaries 0..5 are xmin xmax ymin ymax zmin zmax. */
typedef struct unda_box {
    int64_t size_bytes;
    int32_t shape;       /* unda_shape */
    int32_t periodic[3]; /* 1: that direction is periodic */
    int64_t cells[3];
    double lower[3]; /* [m] */
    double upper[3]; /* [m] */
    double perturb;  /* 0 .. 0.3: random shift of interior vertices / brick size */
    int64_t seed;    /* of the shifts: the same seed gives the same mesh on every machine */
} unda_box;
UNDA_API unda_status unda_box_mesh_new(unda_mesh **mesh, const unda_box *box);

typedef struct unda_mesh_info {
    int64_t size_bytes;
    int32_t shape;
    int32_t num_boundary;
    int64_t num_vertex;
    int64_t num_elem;
    int64_t num_boundary_face; /* outer faces, periodic ones included */
    int64_t num_interior_face; /* periodic pairs count once */
    double lower[3], upper[3]; /* bounding box [m] */
    double volume;             /* [m3] */
    double min_volume, max_volume;
    double min_insphere; /* smallest insphere diameter [m] */
    double min_quality;  /* 3 inradius / circumradius (regular tetrahedron: 1); hexahedra: scaled Jacobian */
    int64_t worst_elem;  /* the element of min_quality */
    int32_t curved;      /* 1: of hexahedra with 27 nodes */
    /* Of a part (unda_mesh_part), whose volumes and qualities are those of its own elements. */
    int32_t which, num_part;   /* this part, of how many; num_part is 0 for a mesh that is none */
    int32_t num_neighbor_part; /* parts with which it shares faces */
    int64_t num_owned;         /* own elements, the first ones; the others are ghosts */
    int64_t num_border;        /* own elements that share a face with a ghost */
    int64_t num_cut_face;      /* these faces */
} unda_mesh_info;
UNDA_API unda_status unda_mesh_get_info(const unda_mesh *mesh, unda_mesh_info *info);

/* Copies of a mesh's arrays; any pointer may be NULL. Sizes from unda_mesh_get_info. */
typedef struct unda_mesh_arrays {
    int64_t size_bytes;
    double *vertices;        /* [num_vertex][3] [m] */
    int64_t *cells;          /* [num_elem][4 or 8], after fix_orientation */
    int32_t *tags;           /* [num_elem] */
    int64_t *boundary_faces; /* [num_boundary_face][3 or 4] vertex ids */
    int32_t *boundary_ids;   /* [num_boundary_face] */
    int64_t *neighbors;      /* [num_elem][4 or 6]: (4 or 6) elem + face, or -1 - boundary id; face f of a
                                tetrahedron lies opposite its vertex f in the order of cells; INT32_MIN: of a
                                ghost, its neighbour is in another part */
    int64_t *order;          /* [num_elem]: the element at each position of the internal order */
    double *curved;          /* [num_elem][27][3], if the mesh is curved [m] */
    double *volumes;         /* [num_elem] [m3] */
    double *quality;         /* [num_elem] */
    /* Of a part: which elements of the whole mesh it has, and the faces that it shares with others. Of neighbour i
     * the faces first_cut[i] .. first_cut[i + 1] - 1, in the same order in both parts: what one sends of cut_own is
     * what the other one takes as cut_ghost. */
    int64_t *global;         /* [num_elem]; own elements ascend */
    int32_t *neighbor_parts; /* [num_neighbor_part], ascending */
    int64_t *first_cut;      /* [num_neighbor_part + 1] */
    int64_t *cut_own;   /* [num_cut_face]: (4 or 6) elem + face of an own element, numbered as in neighbors */
    int64_t *cut_ghost; /* [num_cut_face]: the neighbour's face, of a ghost */
} unda_mesh_arrays;
UNDA_API unda_status unda_mesh_get_arrays(const unda_mesh *mesh, const unda_mesh_arrays *arrays);
/* Coordinates [num_elem][num_node][3] [m] of the nodes that DG of this degree has in each tetrahedron. */
UNDA_API unda_status unda_mesh_coordinates(const unda_mesh *mesh, int32_t degree, double *coordinates);

/* The element of each point and its barycentric coordinates there, one a face: 0 on it, 1 as far away as the
 * element goes. Of a tetrahedron thus in the vertex order of cells; of a hexahedron r1, 1 - r1, r2, 1 - r2,
 * r3, 1 - r3. elem is -1 outside the mesh. On shared faces, edges and vertices the element with the lowest
 * number; see unda_mesh_share. */
UNDA_API unda_status unda_mesh_locate(const unda_mesh *mesh, int64_t num_point,
                                      const double *points, /* [num_point][3] [m] */
                                      int64_t *elem,        /* [num_point] */
                                      double *barycentric); /* [num_point][face]; may be NULL */

/* All elements that share each point: one if it is inside an element, two on a face, more on an edge or a
 * vertex, elements across periodic sides included; none outside the mesh. Only elements that are connected
 * through faces around the point count. A point lies on a face if the barycentric coordinate there is below
 * 1e-10 in magnitude, plus rounding. The weights sum to 1 at each point and distribute sources and receivers
 * of DG over the elements most accurately: proportional to R^-2(degree + 1), R being the root mean square
 * distance of the element's points from the point. A caller that leaves out some elements (another material,
 * a fluid) scales the weights of the others to the sum 1. */
typedef struct unda_shared {
    int64_t size_bytes;
    int64_t num_point;
    int64_t max_cell;     /* capacity of elem, places and weights; UNDA_ERR_ARG if too small */
    int32_t degree;       /* 0 .. 10 */
    const double *points; /* [num_point][3] [m], borrowed */
    int64_t *first;       /* [num_point + 1]: the elements of point i are first[i] .. first[i + 1] - 1 */
    int64_t *elem;        /* [max_cell]: that of unda_mesh_locate comes first; NULL: only first is filled */
    double *places;  /* [max_cell][3]: the point, shifted by periods across periodic sides [m]; or NULL */
    double *weights; /* [max_cell]; or NULL */
} unda_shared;
UNDA_API unda_status unda_mesh_share(const unda_mesh *mesh, const unda_shared *shared);

/* Cuts a mesh into num_part ranges of its space-filling curve. Their weights differ from the mean by at most the weight of
 * the heaviest element, unless that is heavier than the mean; every part has an element. The same input gives the same
 * parts. */
UNDA_API unda_status unda_mesh_partition(const unda_mesh *mesh, int32_t num_part,
                                         const double *weight, /* [num_elem], positive; NULL: all 1 */
                                         int32_t *part);       /* [num_elem] */
/* The graph of the elements that share faces, across periodic sides too: neighbours of element e, ascending, each once,
 * are other[first[e]] .. other[first[e + 1] - 1]. */
UNDA_API unda_status
unda_mesh_graph(const unda_mesh *mesh, int64_t *first, /* [num_elem + 1] */
                int64_t *other,                        /* [first[num_elem]]; NULL: only first is filled */
                int32_t *shared); /* [first[num_elem]]: the faces that join them; or NULL */
/* One part of a mesh, as a mesh of its own: the elements e with part[e] == which and, behind them, its ghosts, the
 * elements of other parts that share a face with one of them, ordered by part. Own elements are numbered as they follow
 * each other in the whole mesh; vertices too. Nothing is searched again: the sides of faces, their boundaries, and the
 * order of vertices inside the library are those of the whole mesh. Any assignment will do that leaves no part empty.
 * Points are located in own elements only. */
UNDA_API unda_status unda_mesh_part(unda_mesh **local, const unda_mesh *mesh, int32_t num_part,
                                    const int32_t *part, /* [num_elem], 0 .. num_part - 1 */
                                    int32_t which);
/* A mesh, whole or a part, as a block of memory without pointers, for another process of this version on a machine like
 * this one. block NULL: *num_byte becomes its size, else that is what *num_byte must be. */
UNDA_API unda_status unda_mesh_pack(const unda_mesh *mesh, int64_t *num_byte, void *block);
/* The mesh in such a block; a block that was changed is refused. */
UNDA_API unda_status unda_mesh_unpack(unda_mesh **mesh, int64_t num_byte, const void *block);

/* ------------------------------------------------------------------ reference element ----------- */

/* Number of nodes of an element: (N+1)(N+2)(N+3)/6 on a tetrahedron (N <= 9), (N+1)^3 on a hexahedron (N <= 10). -1 for an unknown shape or degree. */
UNDA_API int32_t unda_element_num_node(int32_t shape, int32_t degree);
UNDA_API int32_t unda_element_num_face_node(int32_t shape, int32_t degree);

/* Matrices of a reference element. Any pointer may be NULL.
 * Tetrahedron {r >= 0, r1 + r2 + r3 <= 1}: vertex 0 is the origin, vertex i the unit point on axis i, face f lies
 * opposite vertex f; warp & blend nodes (Warburton 2006), orthonormal modes (Koornwinder 1975, Dubiner 1991).
 * Hexahedron {0 <= r_j <= 1}: faces -r1 +r1 -r2 +r2 -r3 +r3; nodes are products of Gauss-Lobatto points, which are
 * the points of the quadrature too, so that the mass matrix is diagonal (Kopriva 2009). */
typedef struct unda_element_arrays {
    int64_t size_bytes;
    double *nodes;      /* [node][3] */
    double *derivative; /* [3][node][node]: d/dr_j of the interpolant at each node */
    double *lift;     /* [face][node][face node]: M^-1 times the face mass matrix, on unit volume and face */
    double *mass;     /* [node][node]; the entries sum to the volume, 1/6 or 1 */
    double *inv_mass; /* [node][node] */
    int32_t *face_node; /* [face][face node]: node of each face node; two tetrahedra whose vertices are
                           sorted by the same global ids list a shared face in the same order */
} unda_element_arrays;
UNDA_API unda_status unda_element_get_arrays(int32_t shape, int32_t degree,
                                             const unda_element_arrays *arrays);
/* matrix[point][node]: the nodal basis functions at reference points [num_point][3]. */
UNDA_API unda_status unda_element_interpolate(int32_t shape, int32_t degree, int64_t num_point,
                                              const double *points, double *matrix);
/* Cubature on the reference tetrahedron (collapsed Gauss-Jacobi), exact to the given total degree (0..40), or
 * hexahedron (Gauss), exact to that degree in each coordinate. Call with points == NULL to get the number of points;
 * weights sum to 1/6 or 1. */
UNDA_API unda_status unda_element_cubature(int32_t shape, int32_t degree, int64_t *num_point,
                                           double *points,   /* [num_point][3] */
                                           double *weights); /* [num_point] */

/* ------------------------------------------------------------------ solver ---------------------- */

typedef struct unda_solver unda_solver;

typedef enum unda_method { UNDA_DG = 0, UNDA_FD = 1, UNDA_SEM = 2 } unda_method;
typedef enum unda_scheme { UNDA_SCALAR = 0, UNDA_STAGGERED = 1 } unda_scheme;
typedef enum unda_physics { UNDA_ACOUSTIC = 0, UNDA_ELASTIC = 1, UNDA_MAXWELL = 2 } unda_physics;
typedef enum unda_precision { UNDA_FLOAT32 = 0, UNDA_FLOAT64 = 1 } unda_precision;
typedef enum unda_flux { UNDA_UPWIND = 0, UNDA_CENTRAL = 1 } unda_flux;
typedef enum unda_integrator { UNDA_LSRK4 = 0, UNDA_AB3 = 1 } unda_integrator;

/* How DG and SEM know the metric of hexahedra: ten numbers an element, all being parallelepipeds; the map of its eight
 * vertices, from which metrics are computed where they are needed; ten numbers a node. */
typedef enum unda_metric {
    UNDA_METRIC_AFFINE = 1,
    UNDA_METRIC_TRILINEAR = 2, /* from degree 2 on; parallelepipeds from 1 on */
    UNDA_METRIC_STORED = 3
} unda_metric;

/* An option of a kernel: "rows", "tile", ... unda_kernel_get lists them. "metric" is a unda_metric, on every device; 0:
 * the first that is exact. */
typedef struct unda_part {
    char name[16];
    int32_t value; /* 0: the engine's choice */
} unda_part;
enum { UNDA_MAX_PART = 16 };

enum { UNDA_DEVICE_CPU = -1 };

/* Boundary conditions. Neighbour tables use the same values (cuda/common/index.h). */
typedef enum unda_boundary {
    UNDA_BOUNDARY_ABSORBING = 0, /* outgoing waves leave: upwind flux with a zero outer state */
    UNDA_BOUNDARY_RIGID = 1,     /* acoustic: normal velocity zero */
    UNDA_BOUNDARY_FREE = 2,      /* acoustic, elastic: pressure, traction zero */
    UNDA_BOUNDARY_FIXED =
        3, /* elastic: velocity zero; FD: also in a fluid, which should slide: see SYMMETRY */
    UNDA_BOUNDARY_SYMMETRY = 4, /* elastic: normal velocity and shear traction zero */
    UNDA_BOUNDARY_PEC = 5,      /* Maxwell: tangential electric field zero */
    UNDA_BOUNDARY_PMC = 6,      /* Maxwell: tangential magnetic field zero */
    UNDA_BOUNDARY_EXACT = 7,    /* outer state given at every stage, see unda_drive */
    UNDA_BOUNDARY_PERIODIC = 8  /* FD, both sides of an axis */
} unda_boundary;

/* A regular grid, its scheme and its absorbing layers, which lie outside the user's nodes. Copied. */
typedef struct unda_fd_options {
    int64_t size_bytes;
    int32_t scheme;       /* unda_scheme */
    int32_t order;        /* of the differences in space: even, 2 .. 16 */
    int64_t shape[3];     /* nodes along x, y, z */
    double spacing[3];    /* [m]; 1 along an axis of one node: amplitudes, energies are then per metre */
    double origin[3];     /* of node (0, 0, 0) [m] */
    double speed_max;     /* highest wave speed [m/s]: the stable step and the layers depend on it */
    int32_t uniform;      /* 1: one material everywhere, in unda_solver_options.material; 0: see
                             unda_solver_set_material */
    int32_t window;       /* CUDA, scalar: rows along y copied at once; the state is then in host memory and
                             a window of it on the device. 0: all of it on the device; -1: 0 if that fits, else
                             a number that suits the free memory */
    int64_t layer[6];     /* nodes of the layers at xmin xmax ymin ymax zmin zmax, where these absorb */
    double reflection[6]; /* amplitude that returns through a layer, at normal incidence */
    double stretch[6];    /* kappa at the end of a layer, >= 1; scalar: 1 for a matched layer, 0 for
                             a sponge */
    double frequency[6];  /* main frequency f0 of the waves [Hz]; 0: no frequency shift (alpha = 0) */
    double ratio[6];      /* staggered: fraction of the damping at the end of a layer that acts on all terms,
                        0 .. 1. 0: a CPML, in which waves of opposite phase and group velocity can grow; below
                        1: a multiaxial layer, whose fraction increases like depth^2; 1: a sponge, without
                        memory variables, and without growth in any medium (csrc/fd/staggered/cpml.c) */
} unda_fd_options;

/* An absorbing layer of DG at a side of the mesh: all cells whose centre lies beyond a plane across an axis, on which
 * faces of cells are to lie. With x the depth there as a fraction of the layer's, derivatives along the axis are divided by
 *     s = kappa + d / (alpha + i omega),    kappa = 1 + (stretch - 1) x^2,    d = (1 - r) damping x^2,
 *     alpha = shift (1 - x) + e,            e = r damping x^2 / kappa,        r = ratio x^2, or 1 where ratio is 1,
 * and all fields decay like exp(-e t) besides. In tetrahedra s is constant, x = 3^-1/2 and alpha without e, and e has one
 * value a cell, by the mean of x^2; of elastic waves with a ratio above 0.02 all of them have (csrc/dg/layer.c). */
typedef struct unda_layer {
    double begin;   /* coordinate of the plane [m] */
    double depth;   /* [m], positive; 0: there is no layer at this side */
    double damping; /* at the end of the layer [1/s] */
    double shift;   /* alpha at its beginning, pi times the main frequency [1/s] */
    double stretch; /* kappa at its end, 1 or more */
    double ratio;   /* as in unda_fd_options, 0 .. 1 */
} unda_layer;

/* All arrays are copied. */
typedef struct unda_solver_options {
    int64_t size_bytes;
    int32_t method;     /* unda_method */
    int32_t physics;    /* unda_physics */
    int32_t degree;     /* DG: 1 .. 9, on hexahedra 1 .. 10; SEM: 2 .. 10 */
    int32_t precision;  /* unda_precision */
    int32_t flux;       /* unda_flux */
    int32_t integrator; /* unda_integrator */
    char kernel[16];    /* a name from unda_kernel_get; "auto", "": the engine's choice */
    int32_t device;     /* UNDA_DEVICE_CPU or the index of a CUDA device */
    int32_t threads;    /* CPU threads; 0: as many as the process may use, fewer for small problems */
    int32_t no_graph;   /* 1: launch kernels one by one instead of as CUDA graphs */
    /* DG, 1: material is [num_elem][num_node][num_material], at the nodes of unda_mesh_coordinates. On
     * tetrahedra no discrete energy is conserved then, and solutions with the central flux grow exponentially. */
    int32_t material_by_node;
    int32_t shape; /* DG, SEM without a mesh, unda_shape: of the cells whose kernels are meant */
    int32_t num_part;
    unda_part part[UNDA_MAX_PART]; /* [num_part] options of the kernel; the engine chooses all others */
    double dt;                     /* [s]; 0: cfl times the stable limit, or as sample_dt requires */
    double sample_dt; /* [s]; if dt is 0, dt is the largest sample_dt / n up to cfl times the limit */
    double cfl;       /* dt / stable limit where dt is 0; 0: 0.9 */
    const double
        *material; /* [num_elem][num_material], or by node: acoustic rho [kg/m3], c [m/s]; elastic rho, vp, vs
                                  (0: a fluid); Maxwell eps [F/m], mu [H/m], sigma [S/m]. FD: [num_material] */
    const int32_t *boundary;   /* [num_boundary] unda_boundary (ignored for periodic ones); FD: [6] */
    const unda_fd_options *fd; /* FD only */
    /* SEM: elements of absorbing layers, each once or not at all, and at their nodes the rate d [1/s] by which waves
     * decay: u'' + 2 d u' in place of u'', of fluids chi'' + 2 d chi'. The scheme is stable for any d >= 0, with the
     * same largest dt. Not with assembly "atomic". */
    int64_t num_damped;
    const int64_t *damped_elem; /* [num_damped] */
    const double *damping;      /* [num_damped][num_node] */
    const unda_layer *layer;    /* DG: [6] absorbing layers at xmin xmax ymin ymax zmin zmax; NULL: none */
} unda_solver_options;

typedef struct unda_solver_info {
    int64_t size_bytes;
    /* SEM: acoustic chi chi_t chi_tt; elastic ux uy uz vx vy vz ax ay az, with fluids chi chi_t chi_tt too */
    int32_t num_field; /* acoustic: p vx vy vz; elastic: vx vy vz sxx syy szz syz sxz sxy; Maxwell: ex ey ez
                          hx hy hz */
    int32_t num_node;  /* nodes per element */
    int32_t num_stage; /* right-hand sides per step */
    int32_t on_gpu;
    char kernel[16]; /* in use; "": the engine has only one */
    int32_t num_part;
    unda_part part[UNDA_MAX_PART]; /* [num_part] options of the kernel in use */
    int32_t threads;
    int32_t spill_bytes;    /* FD, CUDA: local memory per thread of the kernel in use */
    int32_t window;         /* FD: rows along y copied at once; 0: all of the state is on the device */
    int64_t num_elem;       /* FD: nodes of the user's grid */
    int64_t padded[3];      /* FD: nodes along x, y, z with layers */
    int64_t num_dof;        /* SEM: unknowns, those of nodes that elements share once */
    int64_t num_exact;      /* face nodes that need exact data: outer states, then incident waves */
    int64_t step;           /* steps done */
    int64_t host_bytes;     /* tables and state on the host */
    int64_t device_bytes;   /* tables and state on the device, mailboxes of launches of many steps */
    int64_t num_launch;     /* kernels per step (CUDA) */
    double dt;              /* [s] */
    double dt_stable;       /* the stable limit (cfl = 1) [s] */
    double time;            /* t0 + step * dt [s] */
    double setup_seconds;   /* tables and upload */
    double compile_seconds; /* kernels, whether from the cache or not */
    int64_t flops;          /* floating point operations of one right-hand side and update, per node */
    int64_t bytes_per_elem; /* compulsory memory traffic per element and stage, geometry included */
} unda_solver_info;

/* mesh: NULL for FD; else used until unda_solver_free, but unda_mesh_free may be called earlier. */
UNDA_API unda_status unda_solver_new(unda_solver **solver, const unda_mesh *mesh,
                                     const unda_solver_options *options);
/* One problem cut into parts, each on a device of its own. DG and SEM: parts of its mesh. FD: slabs of planes of x, layers
 * included, as many of each as can be; at least 2 M + 2 planes of order 2 M; kernel "step", without a window. */
typedef struct unda_team {
    int64_t size_bytes;
    int32_t num_part;
    int32_t transport;     /* unda_transport */
    const int32_t *part;   /* [num_elem]: each element's part, 0 .. num_part - 1; none is empty. FD: NULL */
    const int32_t *device; /* [num_part]: all CUDA devices, which are equal, each as often as you like; or all
                              UNDA_DEVICE_CPU, for tests: parts take turns then */
} unda_team;
/* How what stands at faces goes from part to part: by stores into the other device's memory, or through page-locked
 * memory of the host. Between processes: through memory of the host, from device to device by an MPI that takes addresses
 * of devices, or by NCCL. On the CPU there is one way. */
typedef enum unda_transport {
    /* Peer, if all devices reach each other; but host, if each part of DG or SEM has a device of its own and what inner
     * cells read and write is sure to take twice as long as a message by that way, as measured. Of processes: host. */
    UNDA_TRANSPORT_AUTO = 0,
    UNDA_TRANSPORT_PEER = 1, /* of a team alone */
    UNDA_TRANSPORT_HOST = 2,
    UNDA_TRANSPORT_MPI = 3, /* of processes alone, as NCCL */
    UNDA_TRANSPORT_NCCL = 4
} unda_transport;
/* As unda_solver_new, on the devices of a team: every call takes and gives elements of the whole mesh, in its numbering.
 * Kernel, dt and all that belongs to the whole problem are those of one device, so that states, samples and energies have
 * its bits; with kernel "gemm" they are equal to rounding, since cuBLAS chooses by size. A launch of many steps
 * ("resident") is refused. options.device: that of part 0. team: borrowed. NULL: no team, unda_solver_new. */
UNDA_API unda_status unda_solver_new_team(unda_solver **solver, const unda_mesh *mesh,
                                          const unda_solver_options *options, const unda_team *team);
/* What unda_solver_forecast says, for a team: host_bytes of all parts, device_bytes [num_part]. Messages go as they do
 * in unda_solver_new_team; where the devices are not here, by stores into the other device's memory, unless the team
 * says otherwise. */
UNDA_API unda_status unda_solver_forecast_team(const unda_mesh *mesh, const unda_solver_options *options,
                                               const unda_team *team, int64_t *host_bytes,
                                               int64_t *device_bytes);
/* What one part of a team has. */
typedef struct unda_member {
    int64_t size_bytes;
    int32_t device;
    int32_t num_neighbor; /* parts with which it shares faces */
    int64_t num_elem;     /* of its own; FD: planes of x, layers included */
    int64_t num_border; /* those of them that share a face with another part, or lie within M planes of one */
    int64_t num_ghost;  /* elements of other parts, of which it knows the values at these faces; planes */
    int64_t num_cut_face;    /* these faces; FD: 1 or 2 */
    int64_t num_shared_node; /* SEM, which has no ghosts: nodes that other parts have as well */
    int64_t
        exchange_bytes; /* that it sends in a stage: cut faces x face nodes x fields x bytes of a real. SEM, in a
                               step: shared nodes, for each part that has one, x unknowns x bytes of a real. FD, in a
                               step: nodes of a plane x bytes of a real, of p M planes a cut; of each field of the
                               staggered schemes that is differenced along x M or M - 1 */
    int64_t device_bytes;
    char transport
        [16]; /* of all parts: "memory", "peer", "host"; of processes: "mpi" on the CPU, "mpi by host",
                           "mpi by device", "nccl" */
} unda_member;
/* Of part `which`; UNDA_ERR_ARG where the solver is no team. */
UNDA_API unda_status unda_solver_get_member(const unda_solver *solver, int32_t which, unda_member *member);

/* When the parts of a team receive what others send them. */
typedef enum unda_exchange {
    UNDA_EXCHANGE_BEHIND = 0, /* while inner elements are computed, as always */
    UNDA_EXCHANGE_BEFORE = 1, /* before any element is computed: the same results, later */
    UNDA_EXCHANGE_NEVER = 2   /* they do not: wrong results, as soon as they could be */
} unda_exchange;
/* For measurements: how much of a stage is spent waiting. A team of DG; from its next step on. weight, 1 to 1e6: on CUDA
 * devices messages have so many times their length, as if more than faces travelled; the rest is not looked at. On the CPU
 * it is 1. Where there is no memory for it, UNDA_ERR_MEMORY, and it is 1 again. */
UNDA_API unda_status unda_solver_set_exchange(unda_solver *solver, int32_t when, double weight);

/* A connection of the devices of all processes by NCCL, which is looked for at the first call (UNDA_LIBNCCL, else
 * libnccl.so.2 as unda_add_library_dir says). NCCL takes no two processes on one device. */
typedef struct unda_nccl unda_nccl;
enum { UNDA_NCCL_ID_BYTES = 128 };
/* Version of NCCL, 23203 for 2.32.3; UNDA_ERR_NO_DEVICE where there is none, and unda_error() says what to install. */
UNDA_API unda_status unda_nccl_find(int32_t *version);
/* In one process: a name for a new connection, id [UNDA_NCCL_ID_BYTES], which all others are to be given. */
UNDA_API unda_status unda_nccl_new_id(void *id);
/* In all processes, which wait for each other here. which: this process, 0 .. num_rank - 1. */
UNDA_API unda_status unda_nccl_new(unda_nccl **nccl, int32_t device, const void *id, int32_t num_rank,
                                   int32_t which);
/* In all processes at about the same time: NCCL may wait for those of this machine. */
UNDA_API void unda_nccl_free(unda_nccl *nccl);

/* One problem in many processes, each with a solver of its part of the mesh (unda_mesh_part, unda_mesh_unpack). All
 * processes make the same calls in the same order. Sources and receivers are those of the whole problem, their elements
 * numbered as in the whole mesh, and so are samples and energy; arrays of states, exact data and incident waves are of the
 * process's own elements alone, in the numbering of its mesh. Materials are given for its own elements and its ghosts.
 * FD: each process has a slab, planes of x (unda_solver_get_member, 0), and is given all of the grid as one process is;
 * arrays and materials are the whole grid's, of which planes of other processes read as 0 and are not written. */
typedef struct unda_ranks {
    int64_t size_bytes;
    int32_t num_rank; /* of processes, which are the parts of the mesh, or slabs of the grid */
    int32_t which;    /* this one */
    int64_t num_elem; /* of the whole mesh; FD: not used, as `place` */
    const int64_t *
        place; /* [own elements]: place of each in the internal order of the whole mesh, see unda_mesh_arrays */
    /* bytes[i] becomes the bitwise or of the bytes[i] of all processes, which call it alike; num_byte may be 0. Another
     * value than 0: this process could not, and neither will the others. */
    int32_t (*unite)(void *of, int64_t num_byte, void *bytes);
    void *of;
    int32_t transport; /* unda_transport, in all processes the same; CUDA devices alone have a choice */
    int32_t reserved;
    unda_nccl
        *nccl; /* of all processes, for transport NCCL, else NULL; borrowed: it outlives the last step */
    /* Of spectral elements, in process 0: the whole mesh, in whose numbering options has materials there; held as by any
     * solver. Else NULL. */
    const unda_mesh *whole;
} unda_ranks;
/* As unda_solver_new, of a part of a mesh; FD: part is NULL. ranks: copied, but for `of`. Kernel, dt and all that belongs
 * to the whole problem are agreed upon, so that the bits of DG and FD are those of one process, those of SEM of a team of
 * the same parts, with the same dt. Traces at cut faces, planes beside cuts, or forces on nodes that processes share travel by
 * messages that the caller starts, unda_solver_set_requests, before the first step; or by NCCL, which needs nothing of him. SEM: process 0 makes the tables of the whole, and gives each process those of its part; options of the
 * others give no materials. unda_solver_write then takes all own elements at once. */
UNDA_API unda_status unda_solver_new_rank(unda_solver **solver, const unda_mesh *part,
                                          const unda_solver_options *options, const unda_ranks *ranks);
/* What travels to and from a neighbour in each stage, in the memory of the solver. FD: in each pass, and for energies and
 * stable steps; of passes and directions as long as the longest. */
typedef struct unda_message {
    int64_t size_bytes;
    int64_t num_byte; /* to be sent, and as many to be received */
    int32_t rank;     /* the neighbour */
    int32_t reserved;
    /* [num_byte], host memory; with transport MPI or NCCL of the device. By NCCL planes of FD do not pass through here,
     * but go from where they stand to where they belong. */
    void *send, *receive;
} unda_message;
/* Of neighbour `which` of this process, 0 .. unda_member.num_neighbor - 1. */
UNDA_API unda_status unda_solver_get_message(const unda_solver *solver, int32_t which, unda_message *message);
/* Persistent requests of these messages. start and wait have the form of MPI_Startall and MPI_Waitall, and are called once
 * a stage by the thread that steps; they return 0, or the run fails. */
typedef struct unda_requests {
    int64_t size_bytes;
    int32_t num;
    int32_t reserved;
    void *request, *status; /* [num] of the library of messages; they must outlive the solver */
    int32_t (*start)(int32_t num, void *request);
    int32_t (*wait)(int32_t num, void *request, void *status);
} unda_requests;
/* requests: copied. */
UNDA_API unda_status unda_solver_set_requests(unda_solver *solver, const unda_requests *requests);

UNDA_API void unda_solver_free(unda_solver *solver);
UNDA_API unda_status unda_solver_get_info(const unda_solver *solver, unda_solver_info *info);
/* Bytes that unda_solver_new would allocate for its tables and state, without allocating them. */
UNDA_API unda_status unda_solver_forecast(const unda_mesh *mesh, const unda_solver_options *options,
                                          int64_t *host_bytes, int64_t *device_bytes);
/* Stable time step of each element [num_elem] [s]. DG: the solver's limit is the smallest. SEM: an estimate;
 * the limit is that of all elements together, by Lanczos' recurrence, within 0.2 %. */
UNDA_API unda_status unda_solver_element_dt(const unda_solver *solver, double *dt);
/* FD: a time step for which the scheme is stable in the given materials (all must have been set) [s]: at most
 * the solver's limit, and below it where densities or stiffnesses of neighbouring nodes differ strongly. It
 * is a bound (Collatz 1942, Wielandt 1950: csrc/fd/staggered/dt.c), mostly a few per cent below the sharp
 * limit; more where lambda < 0, and for Maxwell's equations where no node has both the smallest eps and the
 * smallest mu. Takes as long as up to sixty steps on the CPU, and meanwhile 24 bytes of host memory per node,
 * 48 where x is short. If called before sources, receivers and steps, it becomes the solver's limit, and dt
 * follows unless unda_solver_options.dt was given. *again is 1 if the stored materials depend on dt
 * (conductivity), so that all planes must be set again; else 0. */
UNDA_API unda_status unda_solver_medium_dt(unda_solver *solver, double *dt, int32_t *again);

/* Arrays of a solver that can be read and written. */
typedef enum unda_array {
    UNDA_STATE = 0,    /* the fields; writing them sets the memory variables of these elements to 0 */
    UNDA_RHS = 1,      /* right-hand side of the last unda_solver_rhs (read only) */
    UNDA_HISTORY1 = 2, /* ab3: right-hand side one step back */
    UNDA_HISTORY2 = 3, /* ab3: two steps back */
    /* DG with layers: memory variables, [count][3][num_node][num_trace], of the derivatives along x, y, z of p v_i
     * (num_trace 2), v s_ix s_iy s_iz (6), or E_j E_k H_j H_k, (i, j, k) cyclic (4), i being the axis; 0 outside layers. */
    UNDA_MEMORY = 4,
    UNDA_MEMORY1 = 5, /* ab3: their rates one step back */
    UNDA_MEMORY2 = 6, /* ab3: two steps back */
    /* FD, planes of constant x: */
    /* + f: field f at the user's nodes, [count][ny][nz]; scalar: p, then p one step back. Elastic: stresses in
     * fluids (vs = 0) are not checked. Unless normal stresses are equal there, and 0 on free sides, and shear
     * stresses that average over a fluid node are 0, they drive v without end. */
    UNDA_FIELD = 16,
    UNDA_WHOLE = 32 /* + f: the same with layers, [count][padded y][padded z]; then the memory variables of
                       matched layers, see unda_solver_array_shape */
} unda_array;
/* Elements [first, first + count) of one array as [count][num_node][num_field], or such planes of FD, in the
 * solver's precision. SEM: elements share nodes, which take the value that the first of them in the internal
 * order gives; UNDA_ERR_ARG where a whole state has several values at a node. Accelerations are made from the
 * other fields unless unda_solver_set_clock says that they are valid, history 1. */
UNDA_API unda_status unda_solver_read(unda_solver *solver, int32_t array, int64_t first, int64_t count,
                                      void *values);
UNDA_API unda_status unda_solver_write(unda_solver *solver, int32_t array, int64_t first, int64_t count,
                                       const void *values);
/* Where a field of the present state stands: value (i, j, k), 0 .. num - 1 each, is at real number
 * i stride[0] + j stride[1] + k stride[2] from `address` on. FD: the user's nodes along x, y, z; half a cell beyond a wall a
 * field is an image (unda_solver_read), whatever stands there. DG: blocks of cells, cells of a block, nodes of a cell. SEM:
 * nodes, each once whichever cells share it; 1; 1. */
typedef struct unda_view {
    int64_t size_bytes;
    uint64_t address;
    int32_t device;     /* number of the CUDA device whose memory it is; -1: the host's */
    int32_t real_bytes; /* of a value: 4 or 8 */
    int64_t num[3], stride[3];
} unda_view;
/* Field: of the state. The values may be read, not written, until the next call for this solver that steps, sets or frees
 * it: fields move from buffer to buffer. row: [num[0]][num[1]], or NULL: what stands in each row, -1 nothing: DG: the
 * cell; SEM: cell num_node + node of the first cell that has it; FD: NULL only. UNDA_ERR_ARG of solvers in parts or
 * processes. */
UNDA_API unda_status unda_solver_view(unda_solver *solver, int32_t field, unda_view *view, int64_t *row);
/* A field of the present state from device memory to an array in device memory, in the order and precision of
 * unda_solver_read: DG, SEM: field of the state, [num_elem][num_node]; SEM: 0 in elements of the other kind, solids or fluids.
 * FD: field or level f of UNDA_FIELD + f, [nx][ny][nz]. One of many processes: its own elements or planes; SEM: all call it.
 * address, bytes: the array, the caller's: memory of cuMemAlloc or cudaMalloc on the solver's device, a team's first one, of
 * exactly that size. All steps called before are in it, and on return it is written. No value passes through the host: the
 * first call lists, once for all fields of a kind, 8 bytes an element, SEM 4 bytes a node of an element besides, which stay
 * on the device. *done: 1; 0, and nothing is written, where there is no way from device to device: solvers on the CPU or
 * with a window, and devices that cannot reach the first one's memory. What such solvers have unda_solver_read gives.
 * UNDA_ERR_ARG: another size, no such field, memory that is not such; UNDA_ERR_DEVICE_MEMORY. */
UNDA_API unda_status unda_solver_read_device(unda_solver *solver, int32_t field, uint64_t address,
                                             int64_t bytes, int32_t *done);
/* FD: sets the whole state to zero, layers included. */
UNDA_API unda_status unda_solver_clear_state(unda_solver *solver);
/* Shape of array UNDA_WHOLE + f, which is read and written in planes of its first axis. UNDA_ERR_ARG if
 * there is no such array, which is how to find their number. */
UNDA_API unda_status unda_solver_array_shape(unda_solver *solver, int32_t array, int64_t *shape); /* [3] */
/* FD, scalar: sets the level one step back so that the time derivative is zero now, to second order:
 * p + c^2 dt^2 / 2 laplace p. Staggered: sets the fields at half steps (v, H) so that they vanish now. */
UNDA_API unda_status unda_solver_rest(unda_solver *solver);
/* FD: materials of the user's nodes in planes [first, first + count) of constant x, as [count][ny][nz]
 * [num_material]; layers continue them. All planes must be set before the first step, and may be set again
 * later. Borrowed. */
UNDA_API unda_status unda_solver_set_material(unda_solver *solver, int64_t first, int64_t count,
                                              const double *material);
/* Sets the clock: time = t0 + step * dt, step at most INT64_MAX / 2. history: how many ab3 history levels are
 * valid (0..2). Drops the samples of receivers; the next samples are those due after this step. Monitors whose
 * first sample is of a later step begin anew, as unda_solver_restart_monitor does. Clears unda_blowup. */
UNDA_API unda_status unda_solver_set_clock(unda_solver *solver, double t0, int64_t step, int32_t history);
UNDA_API unda_status unda_solver_get_history(const unda_solver *solver, int32_t *history);

/* Point sources: in each element of a source dq/dt += rates delta(x - place) f(t), rates in the field's
 * unit / s per unit of f and per m3. On a face, edge or vertex pass the elements of unda_mesh_share, and as
 * rates those of each element's material times its weight: in a single element delta is up to 14 times less
 * accurate. Returns the index of the first source in unda_drive.amplitudes; either all sources are added, or
 * none. All arrays are borrowed.
 * FD: one cell per source, elem NULL; the point is distributed over 8 nodes per axis (Hicks 2002). Near free
 * and fixed sides of elastic media the weights are those of a polynomial with the slopes of the boundary
 * condition, which depend on the material set: the transpose of receivers. scalar: each step adds rates[0]
 * c^2 / (node volume) a to p, with c of each node and a the amplitude of the step: rates[0] = rho and a = dt
 * (q(t + dt/2) - q(t - dt/2)) inject the volume rate q. staggered: rates [num_field + 1], per unit of
 * amplitude: forces (v, divided by rho), stresses (added as given), minus currents (E, divided by eps + sigma
 * dt / 2), and last a volume, whose product with the bulk modulus is added to p, or subtracted from each
 * normal stress; all with the material of each node. Amplitudes of a step from t: dt f(t) for a force, M(t +
 * dt) - M(t) for a moment, dt q(t + dt/2) for a volume rate, dt j(t + dt/2) for a current.
 * SEM: rates force x y z [N], moment xx yy zz yz xz xy [N m] in solids, and last in fluids a volume [m3], per
 * unit of amplitude, which is the force, the moment or the volume itself, at the end of each step; of a force
 * in a fluid its integral's integral over time: one that acts on solids and fluids is two sources.
 * FD also takes sources node by node, as the surface of a total field has them: see `node`. */
typedef struct unda_source {
    int64_t size_bytes;
    int64_t num_cell;     /* of all sources */
    const int64_t *elem;  /* [num_cell]; FD: NULL */
    const double *places; /* [num_cell][3] [m] */
    const double *rates;  /* [num_cell][num_field]; staggered: [num_field + 1]; SEM: [num_cell][10] */
    int64_t num_source;   /* with first: 1 or more */
    const int64_t *first; /* [num_source + 1], the cells of source i are first[i] .. first[i + 1] - 1, one or
                             more; NULL: one source in all cells */
    /* FD, with places and rates NULL: what a step adds to single nodes, whatever their material. Field field[i]
     * of the state gains weight[i] times the amplitude at node[i] of the user's [nx][ny][nz]: when the pass that
     * makes the field has ended. [num_cell] each; in each source fields ascend, and in each field nodes. */
    const int64_t *node;
    const int32_t *field;
    const double *weight;
} unda_source;
UNDA_API unda_status unda_solver_add_source(unda_solver *solver, const unda_source *source, int32_t *index);
/* An incident wave at num_face faces: face[i] (0..3, opposite that vertex in the order of cells) of element
 * elem[i]. sign -1: the element holds the scattered field; sign 1: the total field, scattered plus incident.
 * A face between the two is listed from both elements. At an absorbing boundary (sign 1) the scattered field
 * leaves and the wave enters; at a wall (sign -1) their sum satisfies the boundary condition; other
 * boundaries are refused. The wave's values are passed in unda_drive.exact, after those of exact boundaries
 * and of waves added earlier. Returns its number: 0 for the first one since sources were cleared. Arrays
 * [num_face], borrowed. Call it before unda_solver_reserve, or call that again. */
UNDA_API unda_status unda_solver_add_incident(unda_solver *solver, int64_t num_face, const int64_t *elem,
                                              const int32_t *face, const int32_t *sign, int32_t *index);
/* Removes sources and incident waves. */
UNDA_API unda_status unda_solver_clear_sources(unda_solver *solver);

/* A group of receivers: fields at points in elements, recorded now (sample 0) and after every `every` steps.
 * Field number f means field f % n of the state, n being the number of fields; f / n is 0 for the value and 1
 * to 3 for the derivative of the element's polynomial along x, y, z [unit of the field / m].
 * Where several elements share a point, `first` lists the elements of each point (unda_mesh_share), and their
 * values are summed with the weights; with the weights of a source the receiver is the source's transpose.
 * SEM: fields are ux uy uz vx vy vz ax ay az, sxx syy szz syz sxz sxy, pressure, chi chi_t chi_tt, divergence
 * and curl x y z of v; in fluids the last four are 0, in solids chi is.
 * FD: near free and fixed sides of elastic media a field may be interpolated from other fields as well, with
 * the material set when the group is added (UNDA_ERR_ARG if it has not been set). */
typedef struct unda_receivers {
    int64_t size_bytes;
    int64_t num_point;
    int64_t every;
    int32_t num_field;
    const double *points; /* [num_point][3] [m], copied; with first: [first[num_point]][3], the point as
                              seen from each element */
    const int64_t *elem;  /* [num_point], with first: [first[num_point]], copied; FD: NULL */
    const int32_t
        *fields; /* [num_field] field numbers. FD: 0 .. n - 1; SEM: 0 .. 22; DG: 0 .. 8 n - 1, values,
                              derivatives along x, y, z, then integrals over time of all these, which are 0 now
                              and when the state is set or recorded again. The steps integrate them with the
                              state, as one equation more for each place: u' = q */
    const int64_t *first;  /* DG: [num_point + 1], the elements of point i are first[i] .. first[i + 1] - 1,
                              one or more; copied. NULL: one element per point */
    const double *weights; /* with first: [first[num_point]], copied */
} unda_receivers;
UNDA_API unda_status unda_solver_add_receivers(unda_solver *solver, const unda_receivers *receivers,
                                               int32_t *group);
UNDA_API unda_status unda_solver_clear_receivers(unda_solver *solver);
/* Takes samples of a group so that none are lost if the caller is interrupted: drops samples of steps before
 * *step, which the caller already has, and copies at most max_sample of the others as [sample][point][field],
 * double or float by precision. These are kept until a later call drops them. *step becomes the step of the
 * first sample. samples NULL: only returns their number. unda_solver_step refuses to run more steps than
 * there is room for beside the samples that were not dropped. */
UNDA_API unda_status unda_solver_take_samples(unda_solver *solver, int32_t group, int64_t *step,
                                              int64_t max_sample, void *samples, int64_t *num_sample);
/* Records sample 0 of a group again (after the state was set, before the first step). */
UNDA_API unda_status unda_solver_record(unda_solver *solver, int32_t group);
/* What a group needs of its integrals over time to go on to the bit: copies num_value values [3][place][integral], the
 * integrals, then what was integrated one and two steps before, which ab3 needs. Places are those of unda_receivers,
 * integrals the fields that are such. values NULL: num_value alone. Processes call this together. */
UNDA_API unda_status unda_solver_read_integrals(unda_solver *solver, int32_t group, double *values,
                                                int64_t *num_value);
/* num_value: expected to be that of unda_solver_read_integrals. */
UNDA_API unda_status unda_solver_write_integrals(unda_solver *solver, int32_t group, const double *values,
                                                 int64_t num_value);

/* What a monitor keeps of the samples p_k of a field at each place, k = 0 .. n - 1. Maxima and minima are in the solver's
 * precision; sums are accumulated in float64, sample after sample, whatever the precision. */
typedef enum unda_statistic {
    UNDA_MAXIMUM = 0, /* max p_k */
    UNDA_MINIMUM = 1,
    UNDA_SQUARES = 2, /* sum p_k^2 */
    UNDA_FOURIER = 3  /* of each frequency f: sum p_k cos(2 pi f t_k), then - sum p_k sin(2 pi f t_k) */
} unda_statistic;
enum { UNDA_MAX_FREQUENCY = 128 };
/* What a sample is of the fields q_0, q_1, q_2, numbers `field` to field + 2, which stand at the same places; computed in
 * the solver's precision. */
typedef enum unda_quantity {
    UNDA_AS_IT_IS = 0,   /* q_0 */
    UNDA_MINUS = 1,      /* -q_0 */
    UNDA_MINUS_MEAN = 2, /* -(q_0 + q_1 + q_2) / 3: the pressure, of normal stresses */
    UNDA_MAGNITUDE = 3   /* sqrt(q_0^2 + q_1^2 + q_2^2) */
} unda_quantity;
/* Sampled now (sample 0) and after every `every` steps, at t_k = time + lag; a call of unda_solver_step runs from sample to
 * sample. DG: values of nodes of cells; FD: of the user's nodes, images beyond walls among them; SEM: of nodes of cells, kept
 * once where cells share them. */
typedef struct unda_monitor {
    int64_t size_bytes;
    int64_t every;
    int32_t field;     /* number of a field of the state */
    int32_t statistic; /* unda_statistic */
    int32_t quantity;  /* unda_quantity */
    double lag;        /* time of the field less that of the solver [s] */
    int64_t num_frequency;
    const double *frequencies; /* [num_frequency] [Hz], with UNDA_FOURIER alone, copied */
    int64_t num_elem;
    const int64_t *elem;      /* DG, SEM: [num_elem], ascending, copied; NULL: all cells. FD: NULL */
    int64_t first[3], num[3]; /* FD: a box of the user's nodes */
} unda_monitor;
/* What a monitor of so many values takes of a solver with these options: bytes of memory, of which samples that are held are
 * a part; moved, on average, from and to memory for each sample. Either pointer may be NULL. FD: of all nodes where
 * monitor.num is the grid's shape. */
UNDA_API unda_status unda_monitor_bytes(const unda_solver_options *options, const unda_monitor *monitor,
                                        int64_t num_value, int64_t *bytes, double *moved);
/* Takes sample 0. Its memory is added to host_bytes or device_bytes of unda_solver_info. Numbers count from 0 since monitors
 * were cleared. */
UNDA_API unda_status unda_solver_add_monitor(unda_solver *solver, const unda_monitor *monitor,
                                             int32_t *index);
UNDA_API unda_status unda_solver_clear_monitors(unda_solver *solver);
/* Forgets all samples and takes sample 0 again, of the present state. After a blow-up a monitor has samples of the steps
 * that were undone, until this. */
UNDA_API unda_status unda_solver_restart_monitor(unda_solver *solver, int32_t index);
/* first: the step of sample 0; num_sample: samples so far; [array][row][value] with 1 array, or 2 num_frequency with
 * UNDA_FOURIER: DG, SEM: [num_elem][num_node]; FD: [num x][num y][num z]. Planes that other processes have, and cells that do
 * not have the field, are left as they are. float64 but maxima and minima, which are in the solver's precision. Any pointer
 * may be NULL. */
UNDA_API unda_status unda_solver_read_monitor(unda_solver *solver, int32_t index, int64_t *first,
                                              int64_t *num_sample, void *values);
/* Bytes that a monitor moves from and to memory a step, on average. */
UNDA_API unda_status unda_solver_monitor_moved(unda_solver *solver, int32_t index, double *bytes);
/* Puts back what unda_solver_read_monitor gave, all of it or planes and elements of this process. */
UNDA_API unda_status unda_solver_write_monitor(unda_solver *solver, int32_t index, int64_t first,
                                               int64_t num_sample, const void *values);

/* Reserves room for calls of max_step steps (at most 2^28): receiver samples, sampled sources, exact data. */
UNDA_API unda_status unda_solver_reserve(unda_solver *solver, int64_t max_step);
/* The progress of a solver, and what a call of unda_solver_step needs. */
typedef struct unda_next {
    int64_t size_bytes;
    int64_t step;     /* out: steps done */
    int64_t blowup;   /* out: step of unda_blowup, -1: never */
    int64_t num_time; /* out: times at which the steps need sources and exact data */
    int64_t max_time; /* capacity of times */
    double *times;    /* [max_time] [s], written if max_time >= num_time; or NULL */
} unda_next;
/* Reserves as unda_solver_reserve does, and describes the next num_step steps. */
UNDA_API unda_status unda_solver_next(unda_solver *solver, int64_t num_step, unda_next *next);
/* Nodes that need exact data: coordinates [num_exact][3] [m] and number of the boundary that each is on, -1
 * for incident waves [num_exact] (NULL: not wanted). */
UNDA_API unda_status unda_solver_exact_points(const unda_solver *solver, double *points, int32_t *boundary);

/* Sources and exact data of a call of unda_solver_step, sampled at the times of unda_solver_next. Borrowed.
 * */
typedef struct unda_drive {
    int64_t size_bytes;
    int64_t num_time;
    const double *amplitudes; /* [num_time][num_source]; NULL without sources. UNDA_ERR_ARG if one, or its
                                 contribution to a field, is outside the range of the precision */
    const double *exact;      /* [num_time][num_exact][num_field]; NULL where num_exact is 0 */
} unda_drive;

/* Runs num_step steps (at most the reserved number). Allocates nothing. UNDA_ERR_UNSTABLE if the state is
 * no longer finite after them, see unda_solver_get_blowup. DG then restores the state and step of
 * last_good_step, except in the first two steps of ab3, which use that memory, and if no step was good since
 * the clock or the state was set. In these cases, and with FD, which keeps no second state, the state remains
 * as it is, not finite, and must be set again. */
UNDA_API unda_status unda_solver_step(unda_solver *solver, int64_t num_step, const unda_drive *drive);
/* Right-hand side at the present state and time; num_time of drive is 1. Read it with UNDA_RHS. */
UNDA_API unda_status unda_solver_rhs(unda_solver *solver, const unda_drive *drive);

typedef struct unda_blowup {
    int64_t size_bytes;
    int64_t step; /* steps done when it was detected, -1: never; it happened after last_good_step */
    int64_t last_good_step;
    int64_t elem; /* first element (lowest number) that is not finite; FD: node of the user's grid, -1 in
                     layers */
    int32_t field;
    int32_t node;
} unda_blowup;
UNDA_API unda_status unda_solver_get_blowup(const unda_solver *solver, unda_blowup *blowup);

/* The values that such receivers would record now, [num_point][num_field]. Borrowed; `every` is ignored. */
UNDA_API unda_status unda_solver_sample(unda_solver *solver, const unda_receivers *receivers, double *values);
/* Energy integral of the state [J]. SEM: of the step that begins there, which steps without sources and
 * absorbing sides conserve to rounding (csrc/sem/energy.c). */
UNDA_API unda_status unda_solver_energy(unda_solver *solver, double *energy);

/* Times each kernel of a stage, or of a step of FD and SEM, with events: num_run runs after two to warm up. The state
 * is preserved; FD keeps a copy of it on the device meanwhile, which must fit (UNDA_ERR_DEVICE_MEMORY). CUDA
 * only, and not for grids with a window. */
enum { UNDA_MAX_TIMED = 136 };
typedef struct unda_profile {
    int64_t size_bytes;
    int32_t num_kernel;            /* out */
    char name[UNDA_MAX_TIMED][32]; /* out; "record": receivers */
    double seconds
        [UNDA_MAX_TIMED]; /* out: median of one launch [s]; FD: of the mean launch, if a step has several */
    double launches
        [UNDA_MAX_TIMED]; /* out: launches per step; below 1 for a kernel that takes many steps at once */
    /* out: a whole stage, or a step of FD, without receivers [s]: the sum of the kernels; on staggered grids
     * the time of whole steps, because grid and layers run concurrently. */
    double stage_seconds;
    double flops[UNDA_MAX_TIMED]; /* out: that one launch needs; DG alone, 0 for "record" */
    double bytes
        [UNDA_MAX_TIMED]; /* out: compulsory, each input read once and each output written once; likewise */
    /* out: what a kernel has of the device, 0 where it is not the library's own (cuBLAS); DG alone: registers, and
     * bytes that they spill to local memory, of a thread; shared memory [bytes] and threads of a block; blocks that
     * an SM holds at once. */
    int32_t registers[UNDA_MAX_TIMED], spill_bytes[UNDA_MAX_TIMED], shared_bytes[UNDA_MAX_TIMED];
    int32_t threads[UNDA_MAX_TIMED], blocks[UNDA_MAX_TIMED];
    double occupancy[UNDA_MAX_TIMED]; /* out: warps of these blocks, of the most that an SM holds; likewise */
} unda_profile;
UNDA_API unda_status unda_solver_profile(unda_solver *solver, int64_t num_run, unda_profile *profile);

/* ------------------------------------------------------------------ devices --------------------- */

typedef struct unda_device_info {
    int64_t size_bytes;
    char name[128];
    int32_t compute_capability; /* 90 for 9.0 */
    int32_t num_sm;
    int32_t driver_version; /* 13000 for 13.0 */
    int32_t nvrtc_version;
    int64_t total_bytes, free_bytes;
    int64_t shared_bytes; /* largest shared memory of a block */
    int64_t l2_bytes;
    int32_t sm_threads; /* largest number of threads on an SM at once */
    char bus[16];       /* "0000:17:00.0": place on the PCI bus of the machine */
} unda_device_info;

/* Folder of the kernel sources (cuda/); must be set before the first CUDA solver. Copied. */
UNDA_API unda_status unda_set_kernel_dir(const char *path);
/* Folder of compiled kernels; "" switches the cache off. Copied. */
UNDA_API unda_status unda_set_cache_dir(const char *path);
/* Adds a folder in which to search for libnvrtc and other CUDA libraries (pip wheels). Copied. */
UNDA_API unda_status unda_add_library_dir(const char *path);
/* Number of CUDA devices. UNDA_ERR_NO_DEVICE, with the reason in unda_error(), if CUDA cannot be used. */
UNDA_API unda_status unda_device_count(int32_t *count);
UNDA_API unda_status unda_device_get_info(int32_t device, unda_device_info *info);
/* What the search for CUDA libraries found, as text, one line each; valid until this thread's next call. */
UNDA_API const char *unda_device_report(void);

typedef struct unda_limits {
    int64_t size_bytes;
    double copy_bytes_per_second; /* read + written, large arrays */
    double fma32_per_second;      /* flop/s, an FMA counts as two */
    double fma64_per_second;
} unda_limits;
/* Measures a device (UNDA_DEVICE_CPU with the given threads, 0 for all) in about a second. */
UNDA_API unda_status unda_device_limits(int32_t device, int32_t threads, unda_limits *limits);

/* Whether CUDA device `from` reads and writes the memory of `to` itself: 1 or 0; a device reaches its own. */
UNDA_API unda_status unda_device_reach(int32_t from, int32_t to, int32_t *reached);

typedef struct unda_link {
    int64_t size_bytes;
    double latency;          /* out: until a message of 8 bytes is there and its receiver knows [s] */
    double bytes_per_second; /* out: of long messages, each way while as many go the other way */
    int32_t by_host;         /* out: 1: through memory of the host; 0: from device to device */
} unda_link;
/* Measures the way between two CUDA devices, which may be the same, in a fraction of a second; transport: a value of
 * unda_transport. UNDA_ERR_DEVICE if it is PEER and they do not reach each other. */
UNDA_API unda_status unda_link_limits(int32_t from, int32_t to, int32_t transport, unda_link *link);

/* Values that a tuner tries next to n, one option at a time. Options of FD kernels are UNDA_TUNED_NOT: they
 * depend on each other, which Python's `tune=True` takes into account. */
typedef enum unda_tuned {
    UNDA_TUNED_NOT = 0,
    UNDA_TUNED_BY_ONE = 1,  /* n - 1, n + 1 */
    UNDA_TUNED_BY_HALF = 2, /* n / 2, 2 n */
    UNDA_TUNED_BOTH = 3,    /* n - 1, n + 1, 2 n */
    UNDA_TUNED_POWERS = 4   /* 1, 2, 4, .. 128 */
} unda_tuned;

/* A kernel of a method on a kind of device, and its options. */
typedef struct unda_kernel_info {
    int64_t size_bytes;
    char name[16];
    int32_t num_kernel; /* number of kernels */
    int32_t num_part;
    char part[UNDA_MAX_PART][16];                    /* [num_part] */
    int32_t low[UNDA_MAX_PART], high[UNDA_MAX_PART]; /* range of an option */
    int32_t tuned[UNDA_MAX_PART];                    /* unda_tuned */
    int32_t reference;                               /* 1: to compare with, a tuner does not try it */
} unda_kernel_info;
/* Kernel number index of the options' method, scheme and device; other options are ignored. UNDA_ERR_ARG if
 * index is not within 0 .. num_kernel - 1. No device is needed. DG and SEM on the CPU accept the names of the
 * CUDA kernels and ignore them, but for "metric". SEM: they say how forces are summed at nodes that tiles of
 * elements share: "ordered", "colors", whose bits do not change from run to run, and "atomic". */
UNDA_API unda_status unda_kernel_get(const unda_solver_options *options, int32_t index,
                                     unda_kernel_info *info);

/* Compiles the kernels of a stage for an architecture (no device needed), puts them into the cache and
 * returns their largest resources. */
typedef struct unda_kernel_resources {
    int64_t size_bytes;
    int32_t registers, spill_bytes, shared_bytes, threads;
    double compile_seconds;
    int64_t cubin_bytes;
} unda_kernel_resources;
UNDA_API unda_status unda_kernel_compile(const unda_solver_options *options, int32_t compute_capability,
                                         unda_kernel_resources *resources);

#ifndef UNDA_CDEF
#ifdef __cplusplus
}
#endif
#endif
#endif
