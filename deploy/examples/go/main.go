// A small app: it takes orders, and thanks for them in a job that crontick POSTs back to it.
//
//	[kinds.thank]
//	url = "http://127.0.0.1:3000/jobs/thank"
//
//	DATABASE_URL=… CRONTICK_SIGNING_SECRET=whsec_… go run .
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	_ "github.com/lib/pq"
)

// Job is what crontick POSTs. The claim has 63 bits and travels as a text.
type Job struct {
	ID      int64 `json:"id"`
	Claim   int64 `json:"claim,string"`
	Payload struct {
		Order int64 `json:"order"`
	} `json:"payload"`
}

type app struct {
	db   *sql.DB
	keys [][]byte
}

// transaction commits all that work does, or nothing.
func (a *app) transaction(ctx context.Context, work func(*sql.Tx) (any, error)) (any, error) {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // after a commit this does nothing
	result, err := work(tx)
	if err != nil {
		return nil, err
	}
	return result, tx.Commit()
}

// takeOrder commits the order and the job that thanks for it together.
func (a *app) takeOrder(ctx context.Context, body []byte) (any, error) {
	var order struct {
		ID    int64  `json:"id"`
		Email string `json:"email"`
	}
	if err := json.Unmarshal(body, &order); err != nil {
		return nil, err
	}
	return a.transaction(ctx, func(tx *sql.Tx) (any, error) {
		if _, err := tx.ExecContext(ctx, "insert into orders (id, email) values ($1, $2)", order.ID, order.Email); err != nil {
			return nil, err
		}
		var job int64
		payload := fmt.Sprintf(`{"order": %d}`, order.ID)
		err := tx.QueryRowContext(ctx, "select crontick.enqueue('thank', $1)", payload).Scan(&job)
		return map[string]any{"job": job}, err
	})
}

// thank commits what the job does and its end together: a second POST of the same job changes nothing.
func (a *app) thank(ctx context.Context, job Job) (any, error) {
	return a.transaction(ctx, func(tx *sql.Tx) (any, error) {
		var email string
		err := tx.QueryRowContext(ctx,
			"update orders set thanked = thanked + 1 where id = $1 returning email", job.Payload.Order).Scan(&email)
		if errors.Is(err, sql.ErrNoRows) {
			return map[string]any{"cancel": fmt.Sprintf("there is no order %d", job.Payload.Order)}, nil
		}
		if err != nil {
			return nil, err
		}
		result, err := json.Marshal(map[string]any{"thanked": email})
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, "select crontick.complete($1, $2, $3)", job.ID, job.Claim, string(result))
		return map[string]any{"completed": true}, err
	})
}

// verified tells whether one of our secrets signed these very bytes in the last five minutes (Standard Webhooks).
func (a *app) verified(body []byte, headers http.Header) bool {
	at, err := strconv.ParseInt(headers.Get("webhook-timestamp"), 10, 64)
	if age := time.Since(time.Unix(at, 0)); err != nil || age > 5*time.Minute || age < -5*time.Minute {
		return false
	}
	for _, key := range a.keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.%s", headers.Get("webhook-id"), at, body)
		wanted := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, given := range strings.Fields(headers.Get("webhook-signature")) {
			if hmac.Equal([]byte(given), []byte(wanted)) {
				return true
			}
		}
	}
	return false
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		tell(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /orders":
		said, err := a.takeOrder(r.Context(), body)
		answer(w, http.StatusCreated, said, err)
	case "POST /jobs/thank":
		var job Job
		if !a.verified(body, r.Header) {
			tell(w, http.StatusUnauthorized, map[string]any{"error": "not signed by crontick"})
		} else if err := json.Unmarshal(body, &job); err != nil {
			tell(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		} else {
			said, err := a.thank(r.Context(), job)
			answer(w, http.StatusOK, said, err)
		}
	default:
		tell(w, http.StatusNotFound, map[string]any{"error": "no such route"})
	}
}

// answer tells an error as 500, after which crontick tries again.
func answer(w http.ResponseWriter, status int, said any, err error) {
	if err != nil {
		status, said = http.StatusInternalServerError, map[string]any{"error": err.Error()}
	}
	tell(w, status, said)
}

func tell(w http.ResponseWriter, status int, said any) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(said)
}

func main() {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	a := &app{db: db}
	for _, secret := range strings.Split(os.Getenv("CRONTICK_SIGNING_SECRET"), ",") { // several while they rotate
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"))
		if err != nil || len(key) == 0 {
			log.Fatal("CRONTICK_SIGNING_SECRET is not set, or is not whsec_ and base64")
		}
		a.keys = append(a.keys, key)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, a))
}
