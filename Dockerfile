# An image with the programs and nothing else, neither a shell nor a system:
#   docker build -t mars .
#   docker run --rm -i mars label --format csv < rows.arrow > labels.csv
#   docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" mars label --source a.csv --target b.csv -o labels.csv
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
# The folder is not the builder's, and git would say nothing of its version.
RUN git config --global --add safe.directory /src \
 && make build install licences DESTDIR=/out PREFIX=/usr LICENCES=/out/usr/share/doc/mars/THIRD-PARTY-LICENSES \
 && cp LICENSE README.md CHANGELOG.md /out/usr/share/doc/mars/ \
 && install -d -m 1777 /out/tmp && mkdir /data

FROM scratch
COPY --from=build /out /
COPY --from=build --chown=65532:65532 /data /data
# A user without a name or rights.
USER 65532:65532
WORKDIR /data
ENV PATH=/usr/bin
ENTRYPOINT ["mars"]
