# What `sam build` runs for each function of template.yaml, in this folder (samconfig.toml): one build of all bundles, and a
# copy of the function's own. Not with --parallel, which would begin the one build once a function.

build-%: build/.built
	cp build/$*/* "$(ARTIFACTS_DIR)"

build/.built: template.yaml package-lock.json $(shell find functions local/build.ts local/bundle local/stack -name '*.ts') | node_modules
	npm run --silent build
	touch $@

node_modules:
	npm ci --no-audit --no-fund
