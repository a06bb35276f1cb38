package temptable_test

import (
	"fmt"
	"net/netip"

	"github.com/spillway-db/spillway/temptable"
)

// A schema is made once and shared by any number of tables.
func ExampleNewSchema() {
	schema, err := temptable.NewSchema([]temptable.Column{
		{Name: "i", Type: temptable.TypeInt, NotNull: true},
		{Name: "s", Type: temptable.TypeVarchar, Length: 64},
		{Name: "t", Type: temptable.TypeTime, NotNull: true},
		{Name: "price", Type: temptable.TypeDecimal, Length: 10, Scale: 2},
	}, temptable.Distinct())
	fmt.Println(schema.NumCols(), err)
	// Output: 4 <nil>
}

// Every fault of a description comes at once.
func ExampleNewSchema_faults() {
	_, err := temptable.NewSchema([]temptable.Column{
		{Name: "price", Type: temptable.TypeDecimal, Length: 70},
		{Name: "at", Type: temptable.TypeTime, FSP: 9},
	}, temptable.Distinct(2))
	fmt.Println(err)
	// Output:
	// temptable: invalid schema: column 0 (price): length 70 is not in 1..65
	// column 1 (at): fsp 9 is not in 0..6
	// Distinct: no column 2
}

// An opaque column compares by a key of its own: here, addresses of one host
// are equal in both of their forms.
func ExampleCustom() {
	address := temptable.Custom("address", func(dst, src []byte) ([]byte, error) {
		var a netip.Addr
		if err := a.UnmarshalBinary(src); err != nil {
			return dst, err
		}
		b := a.As16()
		return append(dst, b[:]...), nil
	})
	_, err := temptable.NewSchema([]temptable.Column{
		{Name: "host", Type: temptable.TypeVarbinary, Length: 16, Collation: address},
	}, temptable.Distinct())
	four, _ := address.AppendKey(nil, []byte{192, 0, 2, 1})
	six, _ := address.AppendKey(nil, netip.MustParseAddr("::ffff:192.0.2.1").AsSlice())
	fmt.Println(string(four) == string(six), err)
	// Output: true <nil>
}

// DATE and DATETIME travel packed, so that MySQL's zero dates have a value and
// integers compare as dates do.
func ExamplePackDatetime() {
	leap := temptable.PackDatetime(2024, 2, 29, 12, 30, 0, 0)
	zero := temptable.PackDate(0, 0, 0)
	year, month, day, hour, minute, _, _ := temptable.UnpackDatetime(leap)
	fmt.Println(year, month, day, hour, minute, zero < leap)
	// Output: 2024 2 29 12 30 true
}
