"""What a sandboxed command may ask of the kernel: the list (`calls`) and the filter made from it (`program`)."""
