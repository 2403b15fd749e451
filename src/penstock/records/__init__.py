"""TFRecord files: frames and their checksums, compression, random access, damage; and the Examples inside."""
