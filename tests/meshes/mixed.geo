// A wedge beside a cube of one hexahedron.
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {1, 1, 0};
Point(4) = {0, 1, 0};
Point(5) = {2, 0, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Line(5) = {2, 5};
Line(6) = {5, 3};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Curve Loop(2) = {5, 6, -2};
Plane Surface(2) = {2};
Transfinite Curve{:} = 2;
Transfinite Surface{1, 2};
Recombine Surface{1};
Extrude {0, 0, 1} { Surface{1, 2}; Layers{1}; Recombine; }
