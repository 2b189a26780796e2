# Asks Cache::Memcached::Fast, which must be able to connect to the servers. Standard input: the value of ketama_points,
# the number of servers, each server as ADDRESS WEIGHT, and then a key on each line. Standard output: the value of each key.
use strict;
use warnings;
use Cache::Memcached::Fast;

chomp(my $points = <STDIN>);
chomp(my $n = <STDIN>);
my @servers;
for (1 .. $n) {
	my ($address, $weight) = split ' ', scalar <STDIN>;
	push @servers, { address => $address, weight => $weight };
}
my $cache = Cache::Memcached::Fast->new({ servers => \@servers, ketama_points => $points, utf8 => 0, io_timeout => 10 });
while (my $key = <STDIN>) {
	chomp $key;
	my $value = $cache->get($key);
	print defined $value ? $value : "nothing for $key", "\n";
}
