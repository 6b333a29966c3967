# sums.pl: an implementation that has only sums of packed INT32 tensors.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # an answer that waits in a buffer is none

sub load_npy {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!";
    read $file, my $head, 10;
    read $file, my $about, unpack 'v', substr $head, 8;
    local $/;
    return unpack 'l<*', <$file>;
}

sub save_npy {
    my ($path, $sizes, @values) = @_;
    my $shape = join '', map { "$_," } @$sizes;
    my $about = sprintf "%-117s\n", "{'descr': '<i4', 'fortran_order': False, 'shape': ($shape), }";
    open my $file, '>:raw', $path or die "$path: $!";
    print $file "\x93NUMPY\x01\x00", pack('v', length $about), $about, pack('l<*', @values);
    close $file or die "$path: $!";
}

sub run {
    my ($asked) = @_;
    my $desc = $asked->{desc};
    my ($input, $output) = @{$desc}{qw(InputTensor OutputTensor)};
    return (unsupported => "no $desc->{Function}") if $desc->{Function} ne 'SUM';
    return (unsupported => 'no strides') if $input->{Strides} || $output->{Strides};
    my @values = load_npy($asked->{inputs}{InputTensor});
    my $count = 1;
    $count *= $_ for @{ $output->{Sizes} };
    my @sums = (0) x $count;
    for my $index (0 .. $#values) {
        my ($rest, $place, $step) = ($index, 0, 1);
        for my $axis (reverse 0 .. $#{ $input->{Sizes} }) {
            my $size = $output->{Sizes}[$axis];
            $place += $step * ($rest % $size);    # % 1 is 0: a reduced dimension
            $step *= $size;
            $rest = int($rest / $input->{Sizes}[$axis]);
        }
        $sums[$place] = unpack 'l<', pack 'l<', $sums[$place] + $values[$index];    # wraps
    }
    save_npy($asked->{outputs}{OutputTensor}, $output->{Sizes}, @sums);
    return (ok => JSON::PP::true);
}

while (my $line = <STDIN>) {
    my $asked = decode_json($line);
    my %answer =
      $asked->{request} eq 'hello'
      ? (name => 'sums.pl', version => '1.0', operators => ['REDUCE'], types => ['INT32'])
      : (id => $asked->{id}, eval { run($asked) });
    $answer{error} = $@ if $@;
    print encode_json(\%answer), "\n";
}
