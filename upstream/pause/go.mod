module firstlight/upstream/pause

go 1.26
