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
		secrets := strings.Split(fields[0], ",")
		err = waybill.Verify(secrets, fields[2], fields[3], header, []byte(fields[5]), time.Unix(now, 0))
		if errors.Is(err, waybill.ErrBadSecret) {
			fmt.Println("setup")
		} else if err != nil {
			fmt.Println("false")
		} else {
			origin, changed := waybill.Written(header)
			fmt.Println(strings.TrimSpace("true " + origin + " " + strings.Join(changed, " ")))
		}
	}
}
