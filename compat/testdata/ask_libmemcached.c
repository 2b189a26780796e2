/* Asks libmemcached which server has a key. Standard input:
 *
 *   DISTRIBUTION HASH        as compat.Libmemcached names them; - is no hash
 *   N                        servers, each on a line:
 *   HOST PORT WEIGHT         port -1: HOST is the path of a unix socket
 *   K                        keys, each on a line, in hexadecimal
 *
 * Standard output: the index of the server of each key, on a line. */
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void set(memcached_st *m, memcached_behavior_t flag, uint64_t value)
{
	if (memcached_behavior_set(m, flag, value) != MEMCACHED_SUCCESS)
		die("memcached_behavior_set");
}

int main(void)
{
	static const struct {
		const char *name;
		memcached_hash_t hash;
	} hashes[] = {
		{"one_at_a_time", MEMCACHED_HASH_DEFAULT}, {"md5", MEMCACHED_HASH_MD5}, {"crc", MEMCACHED_HASH_CRC},
		{"fnv1_64", MEMCACHED_HASH_FNV1_64}, {"fnv1a_64", MEMCACHED_HASH_FNV1A_64}, {"fnv1_32", MEMCACHED_HASH_FNV1_32},
		{"fnv1a_32", MEMCACHED_HASH_FNV1A_32}, {"jenkins", MEMCACHED_HASH_JENKINS}, {"murmur", MEMCACHED_HASH_MURMUR},
		{"murmur3", MEMCACHED_HASH_MURMUR3},
	};
	static char distribution[32], hash[32], host[256], hex[1024], key[512];
	int n, k, port;
	unsigned weight;
	size_t i;
	memcached_return_t rc;
	memcached_st *m = memcached_create(NULL);

	if (scanf("%31s %31s %d", distribution, hash, &n) != 3)
		die("no distribution, hash and number of servers");
	if (strcmp(distribution, "ketama_weighted") == 0 || strcmp(distribution, "ketama_spy_weighted") == 0)
		set(m, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
	if (strcmp(distribution, "ketama") == 0)
		set(m, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA);
	else if (strcmp(distribution, "consistent") == 0)
		set(m, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT);
	else if (strcmp(distribution, "consistent_weighted") == 0) {
		if (memcached_behavior_set_distribution(m, MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED) != MEMCACHED_SUCCESS)
			die("memcached_behavior_set_distribution");
	} else if (strncmp(distribution, "ketama_spy", 10) == 0)
		set(m, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY);
	else if (strcmp(distribution, "ketama_weighted") != 0)
		die("unknown distribution");
	if (strcmp(hash, "-") != 0) {
		for (i = 0; i < sizeof hashes / sizeof *hashes && strcmp(hash, hashes[i].name) != 0; i++)
			;
		if (i == sizeof hashes / sizeof *hashes)
			die("unknown hash");
		set(m, MEMCACHED_BEHAVIOR_HASH, hashes[i].hash);
	}

	while (n-- > 0) {
		if (scanf("%255s %d %u", host, &port, &weight) != 3)
			die("no host, port and weight");
		if (port < 0)
			rc = memcached_server_add_unix_socket_with_weight(m, host, weight);
		else
			rc = memcached_server_add_with_weight(m, host, (in_port_t)port, weight);
		if (rc != MEMCACHED_SUCCESS)
			die("memcached_server_add");
	}

	if (scanf("%d", &k) != 1)
		die("no number of keys");
	while (k-- > 0) {
		size_t length;
		if (scanf("%1023s", hex) != 1)
			die("no key");
		length = strlen(hex) / 2;
		for (i = 0; i < length; i++) {
			unsigned byte;
			if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
				die("a key is not hexadecimal");
			key[i] = (char)byte;
		}
		printf("%u\n", memcached_generate_hash(m, key, length));
	}
	memcached_free(m);
	return 0;
}
