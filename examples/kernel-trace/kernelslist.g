MemcpyHtoD,0x00007f4000000000,1024
MemcpyHtoD,0x00007f4000200000,1024
kernel-1.traceg
kernel-2.traceg
