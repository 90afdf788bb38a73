D="-DSTRIDE_X=8192 -DSTRIDE_Y=64 -DNUM_ZB=1"
t() { n=$1; o=$2; d=$3; s=$4; z=$5; old=$6; v=$7; l=$8; u=$9; r=${10:-float}; m=emu_main; [ $r = double ] && m=emu_main_d
./emu.sh $n $D -DREAL=$r -DORDER=$o -DDTS=$d -DSTEP=$s -DZB=$z -DOLD=$old -DVARIABLE=$v -DLAYER=$l -DUNROLL=$u -DCHUNK=${11:-6} && ./$m emu/$n.so $o $d $s $z $v $l 1 1 10 > emu/$n.log; echo $n $? $(grep -c "wrong 0 .*rec wrong 0" emu/$n.log); }
t e2 2 7 1 12 1 0 0 2
t e2v 2 5 1 12 1 2 1 2
t e4 4 3 2 14 1 0 0 2
t e4v 4 3 2 14 0 1 1 1
t e4s 4 2 1 14 0 2 1 1
t e6 6 2 3 14 0 0 1 1
t e6v 6 2 3 14 0 1 0 1
t e8 8 3 2 16 0 0 0 1
t e8v 8 3 2 16 0 1 1 1
t e2d 2 4 1 12 1 0 1 2 double
t e8d 8 2 2 16 0 2 0 1 double
t e4c 4 3 2 14 0 2 1 1
t e6c 6 2 3 14 0 2 1 1
t e8c 8 3 2 16 0 1 1 1
