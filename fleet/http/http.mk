# Builds the web server of a controller: functions that decide about requests, and a thin layer
# around libmicrohttpd.
build_packages += libmicrohttpd-dev libgnutls28-dev

# The files of the web page are compiled into fleet-controller unchanged.
fleet_page := $(BUILD)/generated/page.cc
fleet_page_files := $(addprefix fleet/http/,page.html page.css page.js rollout.js steer.js \
  follow.js openapi.json)
$(fleet_page): $(fleet_page_files) fleet/http/http.mk
	@mkdir -p $(@D)
	@{ printf '#include "fleet/http/message.h"\nnamespace fleet {\nconstexpr PageFile files[] = {\n'; \
	for file in $(fleet_page_files); do \
	  case $$file in \
	    *.html) type='/", "text/html; charset=utf-8' ;; \
	    *.css) type="/$${file##*/}\", \"text/css" ;; \
	    *.json) type="/v1/$${file##*/}\", \"application/json" ;; \
	    *) type="/$${file##*/}\", \"text/javascript" ;; \
	  esac; \
	  printf '{"%s", R"page(' "$$type"; cat $$file; printf ')page"},\n'; \
	done; \
	printf '};\nconst PageFile* page_file(std::string_view path) {\n'; \
	printf 'for (const PageFile& file : files) { if (file.name == path) return &file; }\n'; \
	printf 'return nullptr;\n}\n}\n'; } >$@
$(BUILD)/objects/generated/page.o: $(fleet_page)
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

fleet_http := $(BUILD)/libfleet-http.a
$(fleet_http): $(call unit,fleet/http,$(wildcard fleet/http/*.cc)) $(BUILD)/objects/generated/page.o
	$(make_archive)
fleet_http_libraries := -lmicrohttpd -lgnutls
