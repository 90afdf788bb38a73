// A cube of 1000 m in two layers that meet at z = 600 m, for tests and for examples/first_wave.py.
// Materials "lower" and "upper", outer faces "xmin" ... "zmax", and the inner surface "interface".
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1000, 1000, 600};
Box(2) = {0, 0, 600, 1000, 1000, 400};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
e = 1e-3;
Physical Volume("lower", 1) = Volume In BoundingBox{-e, -e, -e, 1000 + e, 1000 + e, 600 + e};
Physical Volume("upper", 2) = Volume In BoundingBox{-e, -e, 600 - e, 1000 + e, 1000 + e, 1000 + e};
Physical Surface("xmin", 11) = Surface In BoundingBox{-e, -e, -e, e, 1000 + e, 1000 + e};
Physical Surface("xmax", 12) = Surface In BoundingBox{1000 - e, -e, -e, 1000 + e, 1000 + e, 1000 + e};
Physical Surface("ymin", 13) = Surface In BoundingBox{-e, -e, -e, 1000 + e, e, 1000 + e};
Physical Surface("ymax", 14) = Surface In BoundingBox{-e, 1000 - e, -e, 1000 + e, 1000 + e, 1000 + e};
Physical Surface("zmin", 15) = Surface In BoundingBox{-e, -e, -e, 1000 + e, 1000 + e, e};
Physical Surface("zmax", 16) = Surface In BoundingBox{-e, -e, 1000 - e, 1000 + e, 1000 + e, 1000 + e};
Physical Surface("interface", 17) = Surface In BoundingBox{-e, -e, 600 - e, 1000 + e, 1000 + e, 600 + e};
Mesh.MeshSizeMin = 150;
Mesh.MeshSizeMax = 150;
