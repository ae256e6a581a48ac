package parquet
import ("testing";"os";"encoding/json";"fmt";"github.com/evq-project/evq/io/event";"github.com/evq-project/evq/io/event/eventtest";"github.com/evq-project/evq/io/format")
func TestMk(t *testing.T) {
	for _, c := range codecs {
	rec := eventtest.Scene(4, 3_000_000, hd)
	path := "/tmp/pq/"+c.name+".parquet"
	w, err := Create(path, format.Header{Geometry: hd}, format.CreateOptions{Force:true,Compression:c.name})
	if err != nil { t.Fatal(err) }
	w.WriteTriggers([]event.Trigger{{T:5,Channel:1,Rising:true},{T:-7,Channel:2}})
	w.Write(t.Context(), rec)
	if err := w.Close(); err != nil { t.Fatal(err) }
	f, _ := os.Create("/tmp/pq/raw.bin")
	for i := range rec.T() { if i%1000==0 {fmt.Fprintf(f,"%d %d %d %d\n", rec.T()[i],rec.X()[i],rec.Y()[i],rec.P()[i])} }
	var st,sx,sy,sp int64
	for i := range rec.T() { st+=rec.T()[i]; sx+=int64(rec.X()[i])*int64(i%1000+1); sy+=int64(rec.Y()[i])*int64(i%1000+1); sp+=int64(rec.P()[i])*int64(i%1000+1) }
	json.NewEncoder(os.Stdout).Encode([]int64{int64(rec.Len()),st,sx,sy,sp})
	}
	w, _ := Create("/tmp/pq/empty.parquet", format.Header{Geometry: hd}, format.CreateOptions{Force:true})
	w.Close()
	one := event.NewBuffer(1); one.Append(-3,7,9,1)
	w, _ = Create("/tmp/pq/one.parquet", format.Header{}, format.CreateOptions{Force:true})
	w.Write(t.Context(), one.Batch()); w.Close()
}
