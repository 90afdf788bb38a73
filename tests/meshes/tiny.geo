// A unit cube with as few tetrahedra as Gmsh makes, for the tests of the reader.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Physical Volume("rock", 5) = {1};
Physical Surface("top", 2) = {6};
Physical Surface("rest", 3) = {1:5};
Mesh.MeshSizeMin = 2;
Mesh.MeshSizeMax = 2;
