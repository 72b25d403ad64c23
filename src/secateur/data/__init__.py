"""Reading of rows from arrays, frames and files, and their encoding as a `Table`. No module here uses a tree."""
