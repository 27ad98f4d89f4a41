package hedge
import ("testing";"fmt";"mars.dev/mars/stages/algorithms/gate")
func show(t *testing.T, what string, m *Model) {
	t.Helper()
	fmt.Println(what, fmt.Sprintf("%+v", m.Problem))
	s := m.Signs()
	for i, v := range m.Views { fmt.Printf("   %-9s w%.2f apart %.3f beyond %.1f blur %.3f doubt %.2f trees %.2f p %.3f\n", v.Name, v.Weight, v.Apart, v.Beyond, v.Blurred, v.Doubt, v.Trees, v.Proportions); for _, r := range m.Why(i)[:4] { fmt.Printf("        %+.2f %s\n", r.Value, r.Text) } }
	_ = s; _ = gate.Views
}
