#!/bin/sh
# Makes random passwords for deploy/compose.yml in deploy/secrets/; those that are there stay.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
umask 077

random() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

write() {
  [ -e "secrets/$1" ] || printf '%s\n' "$2" > "secrets/$1"
}

write postgres_password "$(random)"
write s3_user scout
write s3_password "$(random)"
write admin_password "$(random)"
write scout_database_url "postgresql+psycopg://scout:$(cat secrets/postgres_password)@database/scout"
write s3_credentials "[default]
aws_access_key_id = $(cat secrets/s3_user)
aws_secret_access_key = $(cat secrets/s3_password)"
# Compose mounts the files as they are: the user of the container (10001) has to read them.
chmod 0711 secrets
chmod 0444 secrets/*
echo "secrets: $(pwd)/secrets (the first account is admin, its password in admin_password)"
