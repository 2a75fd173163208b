#!/bin/sh
# The test of this project.
said=$(sh greet.sh Ada 2>&1)
if [ "$said" = "Hello, Ada!" ]; then
    echo "ok: $said"
else
    echo "expected: Hello, Ada!"
    echo "but got:  $said"
    exit 1
fi
