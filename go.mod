module github.com/spillway-db/spillway

go 1.26
