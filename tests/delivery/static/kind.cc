// Calls a virtual function to find out the type of an object. If ASKS is defined, the program uses
// a dynamic_cast instead. It can then not be linked, because packaging/static/run_time.cc lacks the
// functions that a dynamic_cast calls. See tests/delivery/static/run.sh.
namespace {

struct Shape {
  virtual bool is_round() const { return false; }
};

struct Circle : Shape {
  bool is_round() const override { return true; }
};

Circle circle;
Shape shape;

}  // namespace

int main(int argc, char**) {
  const Shape* const volatile chosen = argc > 1 ? &circle : &shape;
#ifdef ASKS
  return dynamic_cast<const Circle*>(chosen) != nullptr;
#else
  return chosen->is_round();
#endif
}
