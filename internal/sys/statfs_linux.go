package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Magic numbers that x/sys lacks, from the sources of bcachefs
// (BCACHEFS_STATFS_MAGIC) and OpenZFS (ZFS_SUPER_MAGIC).
const (
	bcachefsMagic = 0xca451a4e
	zfsMagic      = 0x2fc12fc1
)

// fsTypes names the file systems (statfs(2)) whose handling differs, and the
// common ones.
var fsTypes = map[uint32]DirInfo{
	unix.EXT4_SUPER_MAGIC:      {Type: "ext4"},
	unix.XFS_SUPER_MAGIC:       {Type: "xfs"},
	unix.F2FS_SUPER_MAGIC:      {Type: "f2fs"},
	unix.NFS_SUPER_MAGIC:       {Type: "nfs"},
	unix.FUSE_SUPER_MAGIC:      {Type: "fuse"},
	unix.OVERLAYFS_SUPER_MAGIC: {Type: "overlay"},
	unix.TMPFS_MAGIC:           {Type: "tmpfs", InRAM: true},
	unix.RAMFS_MAGIC:           {Type: "ramfs", InRAM: true},
	unix.BTRFS_SUPER_MAGIC:     {Type: "btrfs", CoW: true},
	bcachefsMagic:              {Type: "bcachefs", CoW: true},
	zfsMagic:                   {Type: "zfs", CoW: true},
}

func describe(st *unix.Statfs_t) DirInfo {
	magic := uint32(st.Type)
	d, ok := fsTypes[magic]
	if !ok {
		d.Type = fmt.Sprintf("0x%x", magic)
	}
	block := int64(st.Bsize)
	if st.Frsize > 0 {
		block = int64(st.Frsize)
	}
	d.Free, d.Total = int64(st.Bavail)*block, int64(st.Blocks)*block
	return d
}
