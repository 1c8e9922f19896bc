// Command check reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md).
package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	waybill "waybill.example/receiver"
)

func main() {
	v1a := len(os.Args) > 1 && os.Args[1] == "v1a"
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var fields [6]string
		for i, field := range strings.Split(lines.Text(), " ") {
			decoded, err := base64.StdEncoding.DecodeString(field)
			if err != nil {
				panic(err)
			}
			fields[i] = string(decoded)
		}
		now, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			panic(err)
		}
		header := http.Header{}
		for _, line := range strings.Split(fields[4], "\n") {
			name, value, _ := strings.Cut(line, ": ")
			header.Add(name, value)
		}
		known, body, at := strings.Split(fields[0], ","), []byte(fields[5]), time.Unix(now, 0)
		if v1a {
			err = waybill.VerifyV1a(known, header, body, at)
		} else {
			err = waybill.Verify(known, fields[2], fields[3], header, body, at)
		}
		if errors.Is(err, waybill.ErrBadSecret) || errors.Is(err, waybill.ErrBadKey) {
			fmt.Println("setup")
		} else if err != nil {
			fmt.Println("false")
		} else if v1a {
			fmt.Println("true")
		} else {
			origin, changed := waybill.Written(header)
			fmt.Println(strings.TrimSpace("true " + origin + " " + strings.Join(changed, " ")))
		}
	}
}
