// Around a sphere of radius 1, out to radius 4.5: cells small at the sphere, large outside.
// Faces "sphere" and "outer", the only volume is "vacuum".
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 4.5};
Sphere(2) = {0, 0, 0, 1};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
inner() = Surface In BoundingBox{-1.1, -1.1, -1.1, 1.1, 1.1, 1.1};
all() = Boundary{ Volume{3}; };
all() -= inner();
Physical Volume("vacuum", 1) = {3};
Physical Surface("sphere", 11) = {inner()};
Physical Surface("outer", 12) = {all()};
Field[1] = MathEval;
Field[1].F = "0.28 + 0.34*(sqrt(x*x + y*y + z*z) - 1)";
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Optimize = 1;
