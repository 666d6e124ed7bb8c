-- Names are found also when they are misspelt. The extension is trusted: the owner of a database may create it.
create extension if not exists pg_trgm with schema strongroom;
